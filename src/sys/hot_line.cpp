// SPDX-License-Identifier: Apache-2.0
#include "sennit/sys/hot_line.hpp"

namespace sennit::sys {

#ifdef SENNIT_HOT_LINE_ASM

extern "C" {
constinit thread_local hot_line sennit_hot_line{};
}

hot_line& own_hot_line() noexcept {
    return sennit_hot_line;
}

#else

namespace {
constinit thread_local hot_line line{};
}

hot_line& hot() noexcept {
    asm volatile(""); // keeps calls from being merged as those of a pure function
    return line;
}
hot_line& own_hot_line() noexcept {
    return hot();
}

#endif

} // namespace sennit::sys
