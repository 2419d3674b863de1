// SPDX-License-Identifier: Apache-2.0
// shared_mutex, shared_timed_mutex: many readers or one writer, as in std, for fibers, forked
// children and OS threads. Use them with std::shared_lock and std::unique_lock.
//
//     sennit::shared_mutex guard;
//     {
//         std::shared_lock reading(guard);
//         lookup(key);
//     }
//
// Use them where reads take long and are much more frequent than writes. For short critical
// sections use `mutex`.
//
// Waiters are served in the order of arrival. A reader that arrives while a writer waits is queued
// behind the writer, so neither side starves. Waiting is not a point of cancellation.
// Errors: a writer that locks again, in either way, throws
// std::system_error(resource_deadlock_would_occur). unlock by a task that is not the owner throws
// operation_not_permitted. Readers are counted, not identified: a reader that locks again may wait
// for itself.
// Cost: one locked instruction for each call.
#pragma once

#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/detail/core/timed_lock.hpp"
#include "sennit/detail/core/wait.hpp"

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>

namespace sennit {

class shared_mutex {
public:
    shared_mutex() noexcept = default;
    ~shared_mutex();
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;

    // Blocks until the caller owns the mutex as its writer. Throws std::system_error if it already
    // does.
    void lock() { (void)lock_until(sched::never); }
    // Takes the mutex as its writer if it is free, and returns true. Does not block.
    bool try_lock() noexcept;
    // Releases the mutex and wakes the next waiters. Throws std::system_error unless the caller is
    // the writer.
    void unlock();

    // Blocks until the caller is one of the readers. Throws std::system_error if the caller is the
    // writer.
    void lock_shared() { (void)lock_shared_until(sched::never); }
    // Enters as a reader if there is no writer and no waiter, and returns true. Does not block.
    bool try_lock_shared() noexcept;
    // Leaves as a reader; the last reader wakes the next waiters. Throws std::system_error if there
    // is no reader.
    void unlock_shared();

    // Suspend the awaiting task until it owns the mutex as its writer, or as one of the readers.
    // Are no points of cancellation. Throw like lock and lock_shared.
    auto async_lock() noexcept { return sched::list_awaiter(entering{this, {kind::writer}}); }
    auto async_lock_shared() noexcept {
        return sched::list_awaiter(entering{this, {kind::reader}});
    }

protected:
    bool lock_until(std::int64_t deadline_ns);
    bool lock_shared_until(std::int64_t deadline_ns);

    enum class kind : std::uint8_t { reader, writer };
    struct request {
        kind what;
        void* who = nullptr;
    };
    // The wait of a task: see list_awaiter.hpp.
    struct entering {
        shared_mutex* self;
        request mine;
        bool ready_or_lock();
        std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns);
        bool end_suspension() noexcept;
    };

private:
    // Returns true if the caller has entered. Otherwise the lock is held.
    bool enter_or_lock(request& mine);
    void give_up() noexcept;
    bool enter(kind what, std::int64_t deadline_ns);
    bool admits(kind what) const noexcept {
        return !writer_ && (what == kind::reader || readers_ == 0);
    }
    void admit(kind what, void* who) noexcept;
    void admit_waiters(sched::wake_ups& woken) noexcept;

    base::spin_lock lock_; // guards all members below
    std::size_t readers_ = 0;
    void* writer_ = nullptr;
    sched::wait_list waiters_;
};

// A shared_mutex with timed forms of lock and lock_shared, which block until the deadline at most
// and return whether the caller has the lock.
class shared_timed_mutex : public sched::timed_lock<shared_mutex> {
public:
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& duration) {
        return lock_shared_until(sched::deadline_in(duration));
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& when) {
        return sched::wait_until(when, false,
                                 [this](std::int64_t until) { return lock_shared_until(until); });
    }

    // Suspend the awaiting task until it owns the mutex as its writer, or as one of the readers,
    // but at most until the deadline, which is a time of the steady clock. Return whether the task
    // has the lock. Otherwise like async_lock.
    template <class Rep, class Period>
    auto async_try_lock_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
        return entering_until(kind::writer, sched::deadline_in(duration));
    }
    template <class Duration>
    auto async_try_lock_until(
        const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) noexcept {
        return entering_until(kind::writer, sched::deadline_of(when));
    }
    template <class Rep, class Period>
    auto async_try_lock_shared_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
        return entering_until(kind::reader, sched::deadline_in(duration));
    }
    template <class Duration>
    auto async_try_lock_shared_until(
        const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) noexcept {
        return entering_until(kind::reader, sched::deadline_of(when));
    }

private:
    sched::timed_list_awaiter<entering> entering_until(kind what,
                                                       std::int64_t deadline_ns) noexcept {
        return {entering{this, {what}}, deadline_ns};
    }
};

} // namespace sennit
