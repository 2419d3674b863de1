// SPDX-License-Identifier: Apache-2.0
#include "sys/check.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/check.hpp"

#include "sys/bounded_text.hpp"
#include "sys/report.hpp"
#include "sys/user_frame.hpp"

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
    sys::bounded_text(digits, sizeof digits) << static_cast<unsigned>(line);
    char caller[96] = "";
    if (const auto describe = sys::describe_caller.load()) describe(caller, sizeof caller);
    sys::report({"sennit: ", message, " (", caller, file, ":", digits, ")\n"});
    // After the message, because unwinding reads a stack that may be damaged.
    char user[512];
    sys::bounded_text frame(user, sizeof user);
    if (sys::write_user_frame(frame)) sys::report({"    called from ", user, "\n"});
    std::abort();
}

} // namespace sennit::base
