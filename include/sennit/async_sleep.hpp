// SPDX-License-Identifier: Apache-2.0
// async_sleep_for, async_sleep_until, async_yield: a task waits for a time, or lets other tasks
// run.
//
//     co_await sennit::async_sleep_for(10ms);
//
// A sleeping task holds no stack: it costs its frames and a timer. Sleeping is a point of
// cancellation, even if the time has come: the await throws `cancelled` in a cancelled nursery or
// with_timeout. Yielding is none.
// Exceptions: std::bad_alloc at the first wait of a strand that has a deadline.
#pragma once

#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/this_fiber.hpp"

#include <chrono>
#include <coroutine>
#include <cstdint>

namespace sennit {

namespace detail {

class sleep_awaiter : public sched::awaitable {
public:
    explicit sleep_awaiter(std::int64_t deadline_ns) noexcept : deadline_ns_(deadline_ns) {}
    static constexpr bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller);
    void await_resume() const; // Throws cancelled.

private:
    std::int64_t deadline_ns_;
};

struct yield_awaiter : sched::awaitable {
    static constexpr bool await_ready() noexcept { return false; }
    static std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        return sched::task_wait::yield(caller);
    }
    static void await_resume() noexcept {}
};

} // namespace detail

// Suspends the task for `duration`; a duration that is not positive ends at once.
template <class Rep, class Period>
detail::sleep_awaiter async_sleep_for(const std::chrono::duration<Rep, Period>& duration) {
    return detail::sleep_awaiter(sched::deadline_in(duration));
}
// Suspends the task until `when`, by the steady clock. For another clock, sleep in a loop until
// that clock shows the time: it may be set back meanwhile.
template <class Duration>
detail::sleep_awaiter
async_sleep_until(const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) {
    return detail::sleep_awaiter(sched::deadline_of(when));
}

// Lets the other ready tasks and fibers of this worker run first.
inline detail::yield_awaiter async_yield() noexcept {
    return {};
}

} // namespace sennit
