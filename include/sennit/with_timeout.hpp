// SPDX-License-Identifier: Apache-2.0
// with_timeout: calls a function with a time limit on all its blocked calls.
//
//     auto reply = sennit::with_timeout(50ms, [&] { return requests.push(q), replies.pop(); });
//
// Use it to limit an operation that consists of several blocking calls. For one call use the call's
// own timed form.
//
// When the time is over, the present blocked call and every later one throws `cancelled`, also in
// nurseries that the function has created. with_timeout then throws `timed_out` instead. A wait for
// a lock is not interrupted. A function that computes runs on unless it calls
// this_fiber::checkpoint().
// Nesting: the earliest limit counts. The with_timeout whose own limit is over throws `timed_out`;
// those inside it let `cancelled` pass. If an enclosing scope is cancelled before the function is
// left, with_timeout lets `cancelled` pass, too, even if its own limit is over by then.
// Limits do not reach forked children that another worker has stolen. A fork does not record to
// which scope it belongs, because that would cost each fork, stolen or not. Such children end by
// themselves, and the join waits for them. Give such a child a limit of its own inside, or create
// the children in a nursery, which the limit reaches.
// Parallel loops and algorithms (sennit/par.hpp) pass the limit on to stolen chunks.
// Fibers, forked children and OS threads may use it. Cost: two readings of the clock, and a timer
// for each call that blocks.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/refused.hpp"
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

// Calls `function()` and returns its result, or rethrows its exception. Throws `timed_out` when the
// limit has ended a call of the function.
template <class Rep, class Period, class F>
    requires std::is_invocable_v<F&>
std::invoke_result_t<F&> with_timeout(const std::chrono::duration<Rep, Period>& duration,
                                      F&& function) {
    return detail::with_deadline(sched::deadline_in(duration), function);
}
// Like with_timeout, with a point in time instead of a duration.
template <class Clock, class Duration, class F>
    requires std::is_invocable_v<F&>
std::invoke_result_t<F&> with_deadline(const std::chrono::time_point<Clock, Duration>& when,
                                       F&& function) {
    return detail::with_deadline(sched::deadline_of(when), function);
}
// Explain calls that the other overloads refuse.
template <class Limit, class F>
base::refused_call with_timeout(const Limit&, F&&) {
    static_assert(base::refused<F>,
                  "sennit: with_timeout takes a std::chrono::duration and a function that it calls "
                  "without arguments; capture the arguments in a lambda");
    return {};
}
template <class Limit, class F>
base::refused_call with_deadline(const Limit&, F&&) {
    static_assert(base::refused<F>,
                  "sennit: with_deadline takes a std::chrono::time_point and a function that it "
                  "calls without arguments; capture the arguments in a lambda");
    return {};
}

} // namespace sennit
