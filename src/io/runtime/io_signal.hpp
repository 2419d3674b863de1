// SPDX-License-Identifier: Apache-2.0
// Signals as operations on a descriptor, for io_run.
#pragma once

#include "io/runtime/io_call.hpp"
#include "sys/signal_inbox.hpp" // IWYU pragma: export

#include <cstddef>

namespace sennit::sched {

// Returns null, with an error number, for a signal that cannot be handled. Throws std::bad_alloc.
sys::signal_inbox* open_signal_inbox(const int* signals, std::size_t count, int& error);

// The result is the number of the signal.
io_operation take_signal(sys::signal_inbox& from) noexcept;

} // namespace sennit::sched
