// SPDX-License-Identifier: Apache-2.0
#include "core/idle/timers.hpp"

#include "core/runtime/runtime_core.hpp"
#include "sennit/detail/core/claimed_waiters.hpp"
#include "sennit/detail/core/waiter.hpp"
#include "sys/clock.hpp"
#include "sys/mutant.hpp"

#include <mutex>

namespace sennit::sched {

namespace {
constexpr std::size_t batch = 64; // Timers expired under one hold of the lock.
}

timers::timers() noexcept : timers(sys::now_ns()) {}

timers::timers(std::int64_t now_ns) noexcept : wheel_(now_ns) {}

std::uint32_t timers::arm(timer& one) noexcept {
    {
        std::lock_guard guard(lock_);
        wheel_.insert(one);
        const std::int64_t before = next_.load();
        const std::int64_t now = wheel_.next_event_ns();
        if (now >= before) return in_time;
        next_.store(now);
    }
    return leader_.load();
}

bool timers::disarm(timer& one) noexcept {
    std::lock_guard guard(lock_);
    if (!one.armed) return false;
    wheel_.remove(one);
    if (wheel_.size() == 0)
        // Otherwise an idle process would wake for nothing. In all other cases one early look is
        // cheaper.
        next_.store(never);
    return true;
}

void timers::expire(std::int64_t now_ns) noexcept {
    for (bool all = false; !all;) {
        timer_wheel::list due, firing;
        claimed_waiters woken;
        {
            std::lock_guard guard(lock_);
            all = wheel_.advance(now_ns, due, batch);
            while (timer* one = due.pop_front()) {
                if (!one->expire)
                    firing.push_back(*one);
                else if (waiter* who = one->expire(*one)) // From here `one` may be gone.
                    woken.add(*who);
            }
            update_next();
        }
        woken.wake_all();
        // `one` may be gone afterwards, or armed again.
        while (timer* one = firing.pop_front()) one->fire(*one);
    }
}

void arm(timer& what, runtime_core& where) noexcept {
    const std::uint32_t leader = where.timers().arm(what);
    if (leader == timers::in_time) return;
    if (leader != timers::no_leader)
        where.wake_worker(leader);
    else if (!SENNIT_MUTANT("wake-up without a timer leader"))
        where.wake_one(); // A worker that is parked now parked while there was a leader.
}

bool disarm(timer& what, runtime_core& where) noexcept {
    return where.timers().disarm(what);
}

} // namespace sennit::sched
