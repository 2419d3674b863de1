// SPDX-License-Identifier: Apache-2.0
// A runtime's timers, for all threads: the wheel behind a lock, and the timer leader, which sleeps
// until the next deadline.
//
// One parked worker, the timer leader, sleeps no longer than until `next_ns`. Busy workers read the
// clock every few picks. If the leader stops being parked for other work while timers are armed, it
// wakes another worker to lead (src/core/idle/idle_search.cpp).
//
// Protocol. `arm` writes `next_` and then reads `leader_`. The leader writes `leader_` and then
// reads `next_`. All accesses are sequentially consistent, so `arm` sees a leader that goes to
// sleep with an older deadline, and wakes it.
#pragma once

#include "core/idle/timer_wheel.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstdint>

namespace sennit::sched {

class alignas(base::destructive_distance) timers {
public:
    static constexpr std::uint32_t no_leader = UINT32_MAX;
    static constexpr std::uint32_t in_time = UINT32_MAX - 1; // The leader wakes early enough.

    timers() noexcept;
    explicit timers(std::int64_t now_ns) noexcept;

    // Arms a timer. Returns the leader that must be woken because it would sleep too long;
    // `no_leader`: any parked worker must be woken, to lead; or `in_time`.
    std::uint32_t arm(timer& one) noexcept;
    bool disarm(timer& one) noexcept;

    // The time at which a thread has to call `expire`; `never`: no timer is armed.
    std::int64_t next_ns() const noexcept { return next_.load(); }

    // Any thread. Expires the timers that are due at `now_ns` and wakes their waiters.
    void expire(std::int64_t now_ns) noexcept;

    bool try_become_leader(std::uint32_t worker) noexcept {
        std::uint32_t none = no_leader;
        return leader_.cas(none, worker);
    }
    bool has_leader() const noexcept { return leader_.load() != no_leader; }
    std::uint32_t leader() const noexcept { return leader_.load(); }
    void release_lead() noexcept { leader_.store(no_leader); }

private:
    void update_next() noexcept { next_.store(wheel_.next_event_ns()); }

    base::spin_lock lock_; // Guards the wheel, and the nodes in it.
    timer_wheel wheel_;
    base::atomic<std::int64_t> next_{never};
    base::atomic<std::uint32_t> leader_{no_leader};
};

} // namespace sennit::sched
