// SPDX-License-Identifier: Apache-2.0
// Conversions from std::chrono to the scheduler's clock.
#pragma once

#include "sennit/detail/core/timer.hpp"

#include <chrono>
#include <cstdint>
#include <type_traits>

namespace sennit::sched {

// The scheduler's clock is that of std::chrono::steady_clock: CLOCK_MONOTONIC.
inline std::int64_t deadline_of(std::chrono::steady_clock::time_point when) noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

// Returns the deadline `duration` from now, never rounded down. A duration too long to represent
// gives `never`. A duration that is not positive, or that is not a number, gives a time in the
// past.
template <class Rep, class Period>
std::int64_t deadline_in(const std::chrono::duration<Rep, Period>& duration) {
    using clock = std::chrono::steady_clock;
    using real = std::chrono::duration<double>;
    if (real(duration) > real(clock::duration::max()) / 2) return never;
    if (!(duration > duration.zero())) return 0;
    return deadline_of(clock::now() + std::chrono::ceil<clock::duration>(duration));
}

// The difference in seconds, as a real number: the common type of the two time points need not be
// able to represent their difference.
template <class Clock, class Duration>
double seconds_until(const std::chrono::time_point<Clock, Duration>& when,
                     typename Clock::time_point now) {
    using real = std::chrono::duration<double>;
    return real(when.time_since_epoch()).count() - real(now.time_since_epoch()).count();
}
// 127 years: an int64_t can count a shorter time in nanoseconds.
inline constexpr double far_s = 4e9;

template <class Clock, class Duration>
bool has_come(const std::chrono::time_point<Clock, Duration>& when) {
    const auto now = Clock::now();
    const double left = seconds_until(when, now);
    return left < -far_s || (left <= far_s && when <= now);
}

// Returns the deadline for one wait. A clock other than the scheduler's may run more slowly, or be
// set back meanwhile: see wait_until.
template <class Clock, class Duration>
std::int64_t deadline_of(const std::chrono::time_point<Clock, Duration>& when) {
    const auto now = Clock::now();
    const double left = seconds_until(when, now);
    if (left > far_s) return never;
    return left < -far_s || when <= now ? 0 : deadline_in(when - now);
}

// Waits by calling `before(deadline_ns)` until it returns a value other than `late`, or until
// `when` has come by its own clock.
template <class Clock, class Duration, class F, class Result>
Result wait_until(const std::chrono::time_point<Clock, Duration>& when, Result late, F before) {
    for (;;) {
        const Result ended = before(deadline_of(when));
        if (ended != late || std::is_same_v<Clock, std::chrono::steady_clock> || has_come(when))
            return ended;
    }
}

} // namespace sennit::sched
