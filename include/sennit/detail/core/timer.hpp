// SPDX-License-Identifier: Apache-2.0
// Something that happens at a point in time, on the scheduler of one runtime.
//
// The node is its user's memory; arming and disarming allocate nothing. An idle worker sleeps until
// the next one is due; busy workers look every so many picks.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"

#include <cstdint>

namespace sennit::sched {

class runtime_core;
struct waiter;

inline constexpr std::int64_t never = INT64_MAX; // a deadline

struct timer : base::list_node {
    // Called once when the deadline has passed, under the lock of all timers: it must not block,
    // arm or disarm. A waiter that it returns is woken afterwards.
    waiter* (*expire)(timer&) noexcept = nullptr;
    // Instead, where `expire` is null: the same, but outside of that lock, so that it may do all
    // that does not block. It may run while, and after, `disarm` says false.
    void (*fire)(timer&) noexcept = nullptr;
    std::int64_t deadline_ns = never; // by now_ns()

    // The wheel's.
    std::uint64_t tick = 0;
    bool armed = false;
};

// Thread-safe, a few tens of ns. A deadline in the past is due at once. `expire` is called within
// 10 us after the deadline if a worker is idle, else when one gets to it.
void arm(timer& what, runtime_core& where) noexcept;

// True: it will not expire. False: it was not armed, or has expired. In both cases `expire` is not
// running and will not be called; nor is `fire` after true.
bool disarm(timer& what, runtime_core& where) noexcept;

} // namespace sennit::sched
