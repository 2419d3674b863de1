// SPDX-License-Identifier: Apache-2.0
// The two timed operations that the standard requires of a lock, built on one `bool
// lock_until(std::int64_t deadline_ns)`.
#pragma once

#include "sennit/detail/core/deadline.hpp"

#include <chrono>

namespace sennit::sched {

// `Lock` with try_lock_for and try_lock_until; its lock_until may be protected.
template <class Lock>
class timed_lock : public Lock {
public:
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
        return this->lock_until(deadline_in(duration));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return wait_until(when, false,
                          [this](std::int64_t until) { return this->lock_until(until); });
    }
};

} // namespace sennit::sched
