// SPDX-License-Identifier: Apache-2.0
#include "sys/check.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/check.hpp"

#include "sys/report.hpp"

#include <cstdlib>

namespace sennit::sys {

namespace {
base::atomic<caller_describer> describe_caller{nullptr};
}

void set_caller_describer(caller_describer describe) noexcept {
    describe_caller.store(describe);
}

} // namespace sennit::sys

namespace sennit::base {

void fail(const char* message, const char* file, int line) noexcept {
    char digits[16];
    char* end = digits + sizeof digits - 1;
    char* begin = end;
    *end = '\0';
    for (int rest = line; rest > 0 || begin == end; rest /= 10)
        *--begin = static_cast<char>('0' + rest % 10);
    char caller[96] = "";
    if (const auto describe = sys::describe_caller.load()) describe(caller, sizeof caller);
    sys::report({"sennit: ", message, " (", caller, file, ":", begin, ")\n"});
    std::abort();
}

} // namespace sennit::base
