// SPDX-License-Identifier: Apache-2.0
// Calls a function, on a thread of its own, each time a signal comes.
#pragma once

#include "sys/kernel_threads.hpp"

#include <string_view>

namespace sennit::sys {

// Parses a name such as USR1, SIGUSR1 or 10. 0: not a signal.
int parse_signal(std::string_view name) noexcept;

// Installs the function from now on. Once in a process; a repeated equal call changes nothing.
// Signals that come while the function runs count as one. A child of fork() inherits the choice,
// but not the thread: there an equal call, or restart_signal_thread, creates one. Throws
// std::invalid_argument for a signal that cannot be handled, or when another signal was chosen
// before. Throws std::system_error and std::bad_alloc when the thread is refused.
void call_on_signal(int signal, void (*function)() noexcept);

// For a child of fork() whose parent chose a signal: creates its thread, unless that has been done.
// True: this call has created it. Throws std::system_error and std::bad_alloc when the thread is
// refused.
bool restart_signal_thread();

// The chosen signal, as long as the process has not replaced our handler; otherwise 0. A system
// call.
int handled_signal() noexcept;

// The thread that waits for the signal; 0: none.
os_thread_id signal_thread_id() noexcept;

} // namespace sennit::sys
