// SPDX-License-Identifier: Apache-2.0
// expect-error: a channel's values must move without throwing
// The move constructor of a channel's value type may throw.
#include "sennit/channel.hpp"

struct careful {
    careful() = default;
#ifdef SENNIT_EXPECT_ERROR
    careful(careful&&) noexcept(false) {}
#else
    careful(careful&&) noexcept {}
#endif
};

void use(sennit::channel<careful>& to) {
    to.push(careful());
}
