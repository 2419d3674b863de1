// SPDX-License-Identifier: Apache-2.0
// The report that a logical thread is suspended while it holds a std::mutex, in builds with
// SENNIT_REPORT_HELD_MUTEX.
//
// If another logical thread locks the mutex on the same worker, it blocks that worker, and perhaps
// with it the holder. The suspended holder may also continue on another thread, which must not
// unlock the mutex.
#pragma once

#include "sennit/detail/core/strand.hpp"

#include <cstdint>

namespace sennit::sched {

// Called on the thread and the stack of `who`, before it is suspended. `in_blocking_pool`: it is
// suspended for a blocking call, and the helper thread then reports what `who` waits for. `count`:
// the number of mutexes that it holds. Writes to standard error, the first eight times in a
// process.
void report_held_mutex(strand* who, bool in_blocking_pool, std::int32_t count) noexcept;

} // namespace sennit::sched
