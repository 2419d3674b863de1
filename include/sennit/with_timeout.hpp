// SPDX-License-Identifier: Apache-2.0
// with_timeout: a function with a time limit on all its blocked calls.
//
//     auto reply = sennit::with_timeout(50ms, [&] { return requests.push(q), replies.pop(); });
//
// When the time is over, the blocked call under way, and every later one, throws `cancelled`, also
// in nurseries that the function has made; with_timeout then throws `timed_out` instead. Locks are
// not interrupted. A function that computes runs on: let it ask this_fiber::checkpoint(). Limits
// nest: the earliest counts, and the with_timeout whose own limit is over is the one that throws
// `timed_out`; those inside it let `cancelled` pass. So does one around which somebody has
// cancelled everything before the function is left, even if its own limit is over by then. Not
// reached: forked children that another worker has taken (a fork does not say to whom it belongs:
// that would cost each one, taken or not); they end by themselves, and the join waits for them.
// Give such a child a limit of its own inside, or make the children in a nursery, which is reached.
// Works in fibers, forked children and OS threads. Cost: two readings of the clock, and a timer for
// each call that blocks.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/result.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/time_limit.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

namespace sennit {

class timed_out : public std::exception {
public:
    const char* what() const noexcept override {
        return "sennit: [SNT-226] the time limit of with_timeout has passed";
    }
};

namespace detail {

template <class F>
std::invoke_result_t<F&> with_deadline(std::int64_t deadline_ns, F& function) {
    sched::time_limit limit(deadline_ns);
    try {
        return std::invoke(function);
    } catch (const cancelled&) {
        if (limit.expired()) throw timed_out();
        throw;
    }
}

} // namespace detail

// Returns what the function returns, or throws what it throws.
template <class Rep, class Period, class F>
std::invoke_result_t<F&> with_timeout(const std::chrono::duration<Rep, Period>& duration,
                                      F&& function) {
    return detail::with_deadline(sched::deadline_in(duration), function);
}
template <class Clock, class Duration, class F>
std::invoke_result_t<F&> with_deadline(const std::chrono::time_point<Clock, Duration>& when,
                                       F&& function) {
    return detail::with_deadline(sched::deadline_of(when), function);
}

} // namespace sennit
