// SPDX-License-Identifier: Apache-2.0
// A runtime's timers, for all threads: the wheel behind a lock, and who sleeps until the next one.
//
// One idle worker, the keeper, sleeps no longer than until `next_ns`. Busy workers look every so
// many picks. When the keeper leaves its bed for other work while timers are armed, it wakes
// another to keep (src/core/idle/idle.cpp).
//
// Protocol. `arm` writes `next_` and then reads `leader_`; the keeper writes `leader_` and then
// reads `next_` (all sequentially consistent): a keeper that goes to sleep with an older time is
// seen by `arm`, and woken.
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
    static constexpr std::uint32_t in_time = UINT32_MAX - 1; // whoever keeps wakes early enough

    timers() noexcept;
    explicit timers(std::int64_t now_ns) noexcept;

    // The keeper that must be woken because it would sleep too long; `no_leader`: any sleeper must
    // be, to keep; `in_time`.
    std::uint32_t arm(timer& one) noexcept;
    bool disarm(timer& one) noexcept;

    // When somebody has to call `expire`; `never`: nothing is armed.
    std::int64_t next_ns() const noexcept { return next_.load(); }

    // Expires what is due at `now_ns` and wakes who waited for it. Any thread.
    void expire(std::int64_t now_ns) noexcept;

    bool try_become_leader(std::uint32_t worker) noexcept {
        std::uint32_t none = no_leader;
        return leader_.cas(none, worker);
    }
    void release_lead() noexcept { leader_.store(no_leader); }

private:
    void update_next() noexcept { next_.store(wheel_.next_event_ns()); }

    base::spin_lock lock_; // guards the wheel, and the nodes in it
    timer_wheel wheel_;
    base::atomic<std::int64_t> next_{never};
    base::atomic<std::uint32_t> leader_{no_leader};
};

} // namespace sennit::sched
