// SPDX-License-Identifier: Apache-2.0
// Checks of programming errors: `SENNIT_CHECK` always, `SENNIT_ASSERT` in debug builds only.
//
// A failed check means that the program would corrupt its state if it continued. So the check
// prints a line to standard error and aborts, without allocating memory. The line names the running
// fiber, if there is one. A second line names the function of the program that called the library,
// if the program has symbols. A message of the library begins with its id, such as [SNT-105],
// and docs/errors.md explains each id. A refusal by the environment (memory, threads) is never a
// check: the call that needed the resource throws an exception.
#pragma once

namespace sennit::base {

// Prints `sennit: <message> (<fiber>, <file>:<line>)` and the calling function to standard error,
// and aborts. Async-signal-safe, except that it takes the dynamic loader's lock after it has
// printed the message.
[[noreturn, gnu::cold]] void fail(const char* message, const char* file, int line) noexcept;

} // namespace sennit::base

#define SENNIT_CHECK(condition, message)                                                           \
    (static_cast<bool>(condition) ? void(0) : ::sennit::base::fail(message, __FILE__, __LINE__))

#ifdef NDEBUG
#define SENNIT_ASSERT(condition, message) void(0)
#else
#define SENNIT_ASSERT(condition, message) SENNIT_CHECK(condition, message)
#endif
