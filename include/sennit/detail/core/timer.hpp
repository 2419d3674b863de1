// SPDX-License-Identifier: Apache-2.0
// An event at a point in time, on the scheduler of one runtime.
//
// The node is its user's memory; arming and disarming allocate nothing. An idle worker sleeps until
// the next timer is due. Busy workers check for due timers after a fixed number of tasks.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"

#include <cstdint>

namespace sennit::sched {

class runtime_core;
struct waiter;

inline constexpr std::int64_t never = INT64_MAX; // a deadline

struct timer : base::list_node {
    // Called once when the deadline has passed, under the lock of all timers. It must not block,
    // arm or disarm. The waiter that it returns, if any, is woken afterwards.
    waiter* (*expire)(timer&) noexcept = nullptr;
    // Called instead when `expire` is null, outside the lock, so that it may do anything that does
    // not block. It may run while, and after, `disarm` returns false.
    void (*fire)(timer&) noexcept = nullptr;
    std::int64_t deadline_ns = never; // by now_ns()

    // The next two belong to the timer wheel.
    std::uint64_t tick = 0;
    bool armed = false;
};

// Arms a timer. Thread-safe, a few tens of ns. A deadline in the past is due immediately. An idle
// worker calls `expire` within 10 us after the deadline; without an idle worker, a busy worker
// calls it at its next check.
void arm(timer& what, runtime_core& where) noexcept;

// True: the timer will not expire. False: it was not armed, or has expired. In both cases `expire`
// is not running and will not be called. After true, `fire` will not be called either.
bool disarm(timer& what, runtime_core& where) noexcept;

} // namespace sennit::sched
