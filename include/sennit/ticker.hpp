// SPDX-License-Identifier: Apache-2.0
// ticker: waits for the next multiple of a period, again and again.
//
//     sennit::ticker every(1s);
//     for (;;) {
//         every.tick();                      // the first tick comes at once
//         report();
//     }
//
// Use it for work at regular times, whose times must not drift as with repeated sleeps. For a
// message to an actor use `tell_every`. For a limit on a rate without fixed times use
// `rate_limiter`.
//
// A tick is missed when its time passes before `tick` is called for it. `missed_ticks` says what
// happens then; the names and the default are those of tokio's interval.
// Never early. Blocking: until the next tick. Cancellation: `tick` throws `cancelled`, and the tick
// stays due. Thread safety: one fiber or thread at a time uses the object. Cost: that of a timer.
#pragma once

#include "sennit/detail/core/deadline.hpp"

#include <chrono>
#include <cstdint>

namespace sennit {

// With a period of 10 ms, after the tick of 20 ms the caller is busy until 47 ms. The next ticks:
enum class missed_ticks : std::uint8_t {
    burst, // all of them at once: 47, 47, 50, 60: the number of ticks is right in the long run
    delay, // from now on: 47, 57, 67: at least a period lies between two ticks
    skip,  // one at once, then the next multiples: 47, 50, 60: the ticks keep their times
};

namespace detail {

// The arithmetic of a ticker. Times are nanoseconds of one clock.
struct tick_schedule {
    std::int64_t next_ns;
    std::int64_t period_ns;
    missed_ticks missed;
    // The tick `next_ns` is taken at the time `now_ns`, which is not before it.
    void advance(std::int64_t now_ns) noexcept;
};

} // namespace detail

class ticker {
public:
    using time_point = std::chrono::steady_clock::time_point;

    // Creates a ticker whose first tick is due now, or at `first`. Throws std::invalid_argument if
    // the period is not positive.
    template <class Rep, class Period>
    explicit ticker(const std::chrono::duration<Rep, Period>& period,
                    missed_ticks missed = missed_ticks::burst)
        : ticker(std::chrono::ceil<std::chrono::nanoseconds>(period),
                 std::chrono::steady_clock::now(), missed) {}
    ticker(std::chrono::nanoseconds period, time_point first,
           missed_ticks missed = missed_ticks::burst);

    // Blocks until the next tick is due, and returns the time at which it was due. Throws
    // `cancelled`; the tick is then not taken.
    time_point tick();
    // The time of the next tick. In a `select`, write `at(every.next(), [&] { every.tick(); … })`.
    time_point next() const noexcept {
        return time_point(std::chrono::nanoseconds(schedule_.next_ns));
    }
    // The next tick is due one period from now.
    void reset() noexcept;
    std::chrono::nanoseconds period() const noexcept {
        return std::chrono::nanoseconds(schedule_.period_ns);
    }

private:
    detail::tick_schedule schedule_;
};

} // namespace sennit
