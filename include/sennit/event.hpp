// SPDX-License-Identifier: Apache-2.0
// event: a flag that tasks can wait for, for fibers, forked children and OS threads.
//
//     sennit::event ready;
//     sennit::fiber waiter([&] { ready.wait(); start(); });
//     ready.set();
//
// Use it for a signal without a value. For a count of signals use `counting_semaphore`; for a value
// use `future` or `channel`.
//
// A `manual_reset` event stays set until `reset`, and lets all waiters through. An `auto_reset`
// event lets one waiter through for each `set` and is then clear again; several sets without a wait
// in between count once. Waiting is a point of cancellation.
#pragma once

#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/detail/core/wait.hpp"

#include <chrono>
#include <cstdint>

namespace sennit {

namespace detail {
class event_case; // of select
}

class event {
public:
    enum class mode : std::uint8_t { manual_reset, auto_reset };

    // Creates an event that is clear, or set if `initially_set` is true.
    constexpr explicit event(mode how = mode::manual_reset, bool initially_set = false) noexcept
        : mode_(how), set_(initially_set) {}
    ~event();
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    // Sets the event and wakes the waiters: all of them, or one for auto_reset. Does not block.
    void set() noexcept;
    // Clears the event. Does not block.
    void reset() noexcept;
    // Returns true if a wait would have returned immediately; it then clears an auto_reset event.
    // Does not block.
    bool try_wait() noexcept;

    // blocks until set; throws cancelled, as the timed forms do
    void wait() { (void)wait_before(sched::never); }
    // Block until the event is set or the deadline has come. Return false if the event was not set
    // in time. Throw `cancelled`.
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period>& duration) {
        return wait_before(sched::deadline_in(duration));
    }
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration>& when) {
        return sched::wait_until(when, false,
                                 [this](std::int64_t until) { return wait_before(until); });
    }

    // Suspends the awaiting task until the event is set. Throws `cancelled`.
    auto async_wait() noexcept { return sched::list_awaiter(awaited{this}); }
    // With a limit: the await returns false if the event was not set in time.
    template <class Rep, class Period>
    auto async_wait_for(const std::chrono::duration<Rep, Period>& duration) {
        return sched::timed_list_awaiter(awaited{this}, sched::deadline_in(duration));
    }
    template <class Duration>
    auto
    async_wait_until(const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) {
        return sched::timed_list_awaiter(awaited{this}, sched::deadline_of(when));
    }

private:
    friend class detail::event_case;
    struct awaited {
        event* self;
        bool ready_or_lock() noexcept;
        std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns);
        bool end_suspension();
    };
    bool take_if_set() noexcept;
    bool wait_before(std::int64_t deadline_ns);

    const mode mode_;
    base::spin_lock lock_; // guards the two members below
    bool set_;
    sched::wait_list waiters_;
};

} // namespace sennit
