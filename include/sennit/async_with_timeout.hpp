// SPDX-License-Identifier: Apache-2.0
// with_timeout and with_deadline for tasks: a limit of time for a task and everything that it
// awaits.
//
//     page p = co_await sennit::with_timeout(2s, fetch(address));
//
// The limit is a scope of cancellation, as that of with_timeout for functions: each await that
// waits throws `cancelled` once the limit has passed, and with_timeout turns that exception into
// `timed_out`. The task always ends before the await returns or throws.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/time_limit.hpp"
#include "sennit/task/task.hpp"
#include "sennit/with_timeout.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

namespace detail {

template <class T>
task<T> limited_task(std::int64_t deadline_ns, task<T> what) {
    sched::time_limit limit(deadline_ns);
    try {
        co_return co_await std::move(what);
    } catch (const cancelled&) {
        if (limit.expired()) throw timed_out();
        throw;
    }
}

} // namespace detail

// Awaits the task for at most `duration`, counted from this call. Throws timed_out.
template <class Rep, class Period, class T>
task<T> with_timeout(const std::chrono::duration<Rep, Period>& duration, task<T> what) {
    return detail::limited_task(sched::deadline_in(duration), std::move(what));
}
// Awaits the task until `when` at most. Throws timed_out.
template <class Clock, class Duration, class T>
task<T> with_deadline(const std::chrono::time_point<Clock, Duration>& when, task<T> what) {
    return detail::limited_task(sched::deadline_of(when), std::move(what));
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
