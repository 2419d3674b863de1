// SPDX-License-Identifier: Apache-2.0
// What the system knows of this process' threads.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <vector>

namespace sennit::sys {

using os_thread_id = int;
using process_id = int;

// The calling thread's number, as in /proc. A system call.
os_thread_id this_os_thread() noexcept;

// The process' number, another one in a child of fork(). A system call.
process_id this_process() noexcept;

// All threads of the process. Empty where the system does not tell.
std::vector<os_thread_id> list_os_threads();

// Whether the process has a handler for a signal that comes from outside or from a timer. Faults,
// which come from the program's own code, do not count, nor do the signals of the C library, nor
// the two that are named (0: none). True where the system does not tell.
bool catches_signals(int except, int or_except) noexcept;

// Whether the thread waits for something other than a processor at this moment. False where the
// system does not tell. Allocates nothing; three system calls.
bool is_blocked(os_thread_id one) noexcept;

// The processor time that a thread, which was not joined yet, has had. A system call.
std::int64_t cpu_time_ns(pthread_t thread) noexcept;

// Gives the calling thread's work to the system when the process ends: flushes what the C library
// keeps.
[[noreturn]] void end_process(int status) noexcept;

} // namespace sennit::sys
