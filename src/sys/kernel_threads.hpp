// SPDX-License-Identifier: Apache-2.0
// The system's information on the threads of this process.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <vector>

namespace sennit::sys {

using os_thread_id = int;
using process_id = int;

// The calling thread's number, as in /proc. A system call.
os_thread_id this_os_thread() noexcept;

// The calling thread, for the calls that take a handle.
pthread_t this_thread_handle() noexcept;

// True on the thread on which the process began. Its thread-local variables exist until the process
// ends. In a child of fork() that another thread made, false on all threads.
bool is_main_thread() noexcept;

// The process number; a child of fork() has another. A system call.
process_id this_process() noexcept;

// All threads of the process. Empty if the system does not tell.
std::vector<os_thread_id> list_os_threads();

// True if the process has a handler for a signal that comes from outside or from a timer. Faults,
// which come from the program's own code, do not count. Nor do the signals of the C library, nor
// the two signals in the arguments (0: none). True if the system does not tell.
bool catches_signals(int except, int or_except) noexcept;

// True if the thread waits for something other than a processor at this moment. False if the system
// does not tell. Allocates nothing; three system calls.
bool is_blocked(os_thread_id one) noexcept;

// The processor time of a thread that was not joined yet. A system call.
std::int64_t cpu_time_ns(pthread_t thread) noexcept;

// Ends the process from the calling thread, and flushes the buffers of the C library.
[[noreturn]] void end_process(int status) noexcept;

} // namespace sennit::sys
