// SPDX-License-Identifier: Apache-2.0
// counting_semaphore, binary_semaphore: as in std, for fibers, forked children and OS threads.
//
//     sennit::counting_semaphore<> connections(8);
//     connections.acquire();
//     query();
//     connections.release();
//
// Use them to limit how many tasks do something at the same time. For mutual exclusion use `mutex`,
// which checks its owner.
//
// Waiters are served in the order of arrival: a token that is released while a task waits goes to
// that task. Cancellation: acquire and the timed forms throw `cancelled`, and lose no token. As in
// std, the object may be destroyed when the last acquire has returned.
#pragma once

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/detail/core/wait.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sennit {

namespace detail {

class acquire_case; // of select
struct semaphore_access;

class semaphore_core {
public:
    constexpr explicit semaphore_core(std::ptrdiff_t tokens) noexcept : tokens_(tokens) {}
    ~semaphore_core();
    semaphore_core(const semaphore_core&) = delete;

    void release(std::ptrdiff_t count, std::ptrdiff_t most);
    bool try_acquire() noexcept;
    bool acquire_before(std::int64_t deadline_ns); // throws cancelled

    struct awaited { // for tasks
        semaphore_core* self;
        bool ready_or_lock() noexcept;
        std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns);
        bool end_suspension();
    };

private:
    friend class acquire_case;
    base::spin_lock lock_; // guards the members below
    base::lock_uses uses_;
    std::ptrdiff_t tokens_;
    sched::wait_list waiters_;
};

} // namespace detail

template <std::ptrdiff_t LeastMaxValue = PTRDIFF_MAX>
class counting_semaphore {
    static_assert(LeastMaxValue >= 0, "sennit: a semaphore's largest count must not be negative");

public:
    static constexpr std::ptrdiff_t max() noexcept { return LeastMaxValue; }

    // Creates a semaphore with `desired` tokens, from 0 to max(); any other number ends the program
    // with a message.
    constexpr explicit counting_semaphore(std::ptrdiff_t desired) noexcept : core_(desired) {
        SENNIT_CHECK(desired >= 0 && desired <= max(),
                     "[SNT-212] a semaphore was made with fewer than 0 tokens, or with more than "
                     "max(); pass a number in that range");
    }

    // Adds tokens and wakes as many waiters. Does not block. Throws
    // std::system_error(value_too_large), and adds no token, when there would be more than max().
    void release(std::ptrdiff_t update = 1) { core_.release(update, LeastMaxValue); }

    // Blocks until the caller has a token. Throws `cancelled`.
    void acquire() { (void)core_.acquire_before(sched::never); }
    // Suspends the awaiting task until it has a token. Throws `cancelled`.
    auto async_acquire() noexcept {
        return sched::list_awaiter(detail::semaphore_core::awaited{&core_});
    }
    // With a limit: the await returns false if there was no token in time.
    template <class Rep, class Period>
    auto async_try_acquire_for(const std::chrono::duration<Rep, Period>& duration) {
        return sched::timed_list_awaiter(detail::semaphore_core::awaited{&core_},
                                         sched::deadline_in(duration));
    }
    template <class Duration>
    auto async_try_acquire_until(
        const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) {
        return sched::timed_list_awaiter(detail::semaphore_core::awaited{&core_},
                                         sched::deadline_of(when));
    }
    // Takes a token if there is one, and returns true. Returns false otherwise. Does not block.
    bool try_acquire() noexcept { return core_.try_acquire(); }
    // Block until the caller has a token or the deadline has come. Return false if there was no
    // token in time. Throw `cancelled`.
    template <class Rep, class Period>
    bool try_acquire_for(const std::chrono::duration<Rep, Period>& duration) {
        return core_.acquire_before(sched::deadline_in(duration));
    }
    template <class Clock, class Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) {
        return sched::wait_until(
            when, false, [this](std::int64_t until) { return core_.acquire_before(until); });
    }

private:
    friend detail::semaphore_access;
    detail::semaphore_core core_;
};

using binary_semaphore = counting_semaphore<1>;

} // namespace sennit
