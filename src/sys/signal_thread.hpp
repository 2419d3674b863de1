// SPDX-License-Identifier: Apache-2.0
// A function that is called, on a thread of its own, each time that a signal comes.
#pragma once

#include "sys/kernel_threads.hpp"

#include <string_view>

namespace sennit::sys {

// Such as USR1, SIGUSR1 or 10. 0: none of these.
int parse_signal(std::string_view name) noexcept;

// From now on. Once in a process; the same call again changes nothing. Signals that come while the
// function runs are one. A child of fork() inherits the choice, but not the thread: there the same
// call, or restart_signal_thread, makes one. Throws std::invalid_argument for a signal that cannot
// be handled, or when another one was given before, std::system_error and std::bad_alloc when the
// thread is refused.
void call_on_signal(int signal, void (*function)() noexcept);

// In a child of fork() whose parent chose a signal: makes its thread, unless that was done. True:
// it has made one. Throws std::system_error and std::bad_alloc when the thread is refused.
bool restart_signal_thread();

// That signal, as long as nobody else has put a handler in place of ours; else 0. A system call.
int handled_signal() noexcept;

// The thread that waits; 0: none does.
os_thread_id signal_thread_id() noexcept;

} // namespace sennit::sys
