// SPDX-License-Identifier: Apache-2.0
// condition_variable, condition_variable_any: as in std, for fibers, forked children and OS
// threads.
//
// Use condition_variable with std::unique_lock<sennit::mutex>, and condition_variable_any with any
// other lock. For a single signal use `event`; for values use `channel`.
//
//     std::unique_lock lock(mutex);
//     ready.wait(lock, [&] { return !queue.empty(); });
//
// A wait ends by a notification, by its deadline, by its stop token or by a cancelled scope. There
// are no spurious wake-ups. But another task may have changed the condition before the waiter holds
// the lock again, so wait with a predicate. Cancellation: in a cancelled nursery or with_timeout a
// wait takes the lock again and throws `cancelled`. Destruction: the object may be destroyed as
// soon as all waiters have been notified. Cost of a notification without waiters: one load.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/task_forward.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/mutex.hpp"

#include <chrono>
#include <condition_variable> // std::cv_status
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>

namespace sennit {

using std::cv_status;

class condition_variable_any {
public:
    condition_variable_any() noexcept = default;
    ~condition_variable_any();
    condition_variable_any(const condition_variable_any&) = delete;
    condition_variable_any& operator=(const condition_variable_any&) = delete;

    // Wakes the longest waiter, if there is one. Does not block.
    void notify_one() noexcept;
    // Wakes all waiters. Does not block.
    void notify_all() noexcept;

    // Releases `lock`, blocks until a notification, and takes `lock` again. Throws `cancelled`, and
    // the exceptions of `lock`.
    template <class Lock>
    void wait(Lock& lock) {
        (void)wait_until_ns(lock, sched::never);
    }
    // Waits until `done()` returns true. `done` is called with the lock held.
    template <class Lock, class Predicate>
    void wait(Lock& lock, Predicate done) {
        check_predicate<Predicate>();
        while (!done()) wait(lock);
    }
    // Waits until a notification or the deadline, and returns no_timeout or timeout. Throws like
    // wait.
    template <class Lock, class Clock, class Duration>
    cv_status wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& when) {
        const cv_status ended = wait_until_ns(lock, sched::deadline_of(when));
        // The function does not wait a second time if the clock of `when` is late: it would miss a
        // notification that came in between.
        return ended == cv_status::timeout && !sched::has_come(when) ? cv_status::no_timeout
                                                                     : ended;
    }
    // Waits until `done()` returns true or the deadline has come. Returns the last result of
    // `done()`.
    template <class Lock, class Clock, class Duration, class Predicate>
    bool wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& when,
                    Predicate done) {
        check_predicate<Predicate>();
        while (!done())
            if (wait_until(lock, when) == cv_status::timeout) return done();
        return true;
    }
    // Waits until a notification, at most for `duration`. Returns no_timeout or timeout.
    template <class Lock, class Rep, class Period>
    cv_status wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& duration) {
        return wait_until_ns(lock, sched::deadline_in(duration));
    }
    // Waits until `done()` returns true, at most for `duration`. Returns the last result of
    // `done()`.
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& duration, Predicate done) {
        return wait_with(lock, std::stop_token(), sched::deadline_in(duration), done);
    }

    // Waits until `done()` returns true, the stop token is triggered, or the deadline has come.
    // Returns the last result of `done()`.
    template <class Lock, class Predicate>
    bool wait(Lock& lock, std::stop_token stop, Predicate done) {
        return wait_with(lock, std::move(stop), sched::never, done);
    }
    template <class Lock, class Clock, class Duration, class Predicate>
    bool wait_until(Lock& lock, std::stop_token stop,
                    const std::chrono::time_point<Clock, Duration>& when, Predicate done) {
        for (;;) {
            if (wait_with(lock, stop, sched::deadline_of(when), done)) return true;
            if (stop.stop_requested() || sched::has_come(when)) return false;
        }
    }
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock& lock, std::stop_token stop,
                  const std::chrono::duration<Rep, Period>& duration, Predicate done) {
        return wait_with(lock, std::move(stop), sched::deadline_in(duration), done);
    }

    // The form of wait for a task: `co_await changed.async_wait(lock)`. The lock must own its
    // mutex. Include sennit/task.hpp to call it. The second form awaits until `done()` returns
    // true.
    task<void> async_wait(std::unique_lock<mutex>& lock);
    template <class Predicate>
    task<void> async_wait(std::unique_lock<mutex>& lock, Predicate done);
    // With a limit: the results of wait_for. The second form returns `done()`.
    template <class Rep, class Period>
    task<cv_status> async_wait_for(std::unique_lock<mutex>& lock,
                                   std::chrono::duration<Rep, Period> duration);
    template <class Rep, class Period, class Predicate>
    task<bool> async_wait_for(std::unique_lock<mutex>& lock,
                              std::chrono::duration<Rep, Period> duration, Predicate done);

private:
    class notification;
    task<cv_status> async_wait_before(std::unique_lock<mutex>& lock, std::int64_t deadline_ns);
    template <class Predicate>
    task<bool> async_wait_before(std::unique_lock<mutex>& lock, std::int64_t deadline_ns,
                                 Predicate done);
    // Releases the user's lock during a wait. The destructor takes it again, however the wait ends.
    template <class Lock>
    struct released {
        explicit released(Lock& held) : lock(held) { lock.unlock(); }
        ~released() noexcept(false) { lock.lock(); }
        Lock& lock;
    };

    void add(sched::wait_entry& entry) noexcept;
    void remove(sched::wait_entry& entry) noexcept;
    sched::claimed claim_next() noexcept;

    // Releases the user's lock during a wait and keeps the waiter in the list meanwhile. The waiter
    // enters the list before the lock is released, so that every later notification finds it. It
    // leaves the list before it takes the lock again, because the holder of the lock may notify all
    // waiters and destroy the condition variable.
    template <class Lock>
    struct listed_and_released {
        listed_and_released(condition_variable_any& where, sched::wait_entry& what, Lock& held)
            : self(where), entry(what), lock(held) {
            self.add(entry);
            try {
                lock.unlock();
            } catch (...) {
                self.remove(entry);
                throw;
            }
        }
        ~listed_and_released() noexcept(false) {
            self.remove(entry);
            lock.lock();
        }
        condition_variable_any& self;
        sched::wait_entry& entry;
        Lock& lock;
    };

    // The wait that only a notification can end. The list stays locked until the waiter is saved,
    // so no claim is needed. That is why the user's lock must be a sennit::mutex, whose unlock
    // neither blocks nor notifies.
    [[gnu::always_inline]] sched::wake_reason
    wait_for_notification(std::unique_lock<mutex>& lock, const sched::wait_options& options) {
        std::unique_lock list(lock_);
        // Orders nothing, as in add.
        any_.store_rlx(1);
        released<std::unique_lock<mutex>> outside(lock);
        return sched::block(waiters_, *list.release(), options);
    }

    // This function and the next are inline. The processor mispredicts the return from each
    // function that was entered before the switch: inlining takes 0.91 of the time of a hand-over
    // with clang.
    template <class Lock>
    [[gnu::always_inline]] sched::wake_reason wait_once(Lock& lock, std::int64_t deadline_ns,
                                                        const std::stop_token& stop) {
        static_assert(
            requires(Lock& held) { held.lock(), held.unlock(); },
            "sennit: a condition variable waits with a lock that has lock() and unlock(), "
            "such as std::unique_lock<sennit::mutex>");
        const sched::wait_options options{
            .deadline_ns = deadline_ns, .what = "condition_variable", .on = this};
        if constexpr (std::is_same_v<Lock, std::unique_lock<mutex>>)
            if (deadline_ns == sched::never && !stop.stop_possible() && !sched::in_cancel_scope())
                return wait_for_notification(lock, options);
        sched::wait_point point;
        sched::wait_entry entry(point);
        listed_and_released<Lock> outside(*this, entry, lock);
        if (!stop.stop_possible()) return sched::wait(point, nullptr, nullptr, options);
        std::stop_callback callback(stop, [&point]() noexcept {
            if (sched::claim(point, sched::wake_reason::stopped) == sched::claim_result::wake_it)
                sched::wake(point);
        });
        return sched::wait(point, nullptr, nullptr, options);
    }

    template <class Lock>
    [[gnu::always_inline]] cv_status wait_until_ns(Lock& lock, std::int64_t deadline_ns) {
        switch (wait_once(lock, deadline_ns, std::stop_token())) {
        case sched::wake_reason::cancelled:
            throw cancelled();
        case sched::wake_reason::timed_out:
            return cv_status::timeout;
        default:
            return cv_status::no_timeout;
        }
    }

    template <class Predicate>
    static consteval void check_predicate() {
        static_assert(
            requires(Predicate& done) { !done(); },
            "sennit: a condition variable's wait calls the predicate without arguments, "
            "and its result must be a condition; capture the arguments in a lambda");
    }

    template <class Lock, class Predicate>
    bool wait_with(Lock& lock, std::stop_token stop, std::int64_t deadline_ns, Predicate& done) {
        check_predicate<Predicate>();
        while (!done()) {
            if (stop.stop_requested()) return false;
            const sched::wake_reason why = wait_once(lock, deadline_ns, stop);
            if (why == sched::wake_reason::cancelled) throw cancelled();
            if (why == sched::wake_reason::timed_out || why == sched::wake_reason::stopped)
                return done();
        }
        return true;
    }

    // Nonzero if the list has entries. Written under the lock.
    base::atomic<std::uint32_t> any_{0};
    base::spin_lock lock_; // guards all members below
    bool ending_ = false;  // the destructor waits until no waiter needs to call `remove`
    // Number of waiters that will call `remove` unless a notification ends their wait: those that
    // also wait for a deadline, a stop token or a cancellation.
    std::uint32_t to_leave_ = 0;
    sched::wait_list waiters_;
};

// A condition variable for std::unique_lock<sennit::mutex> only, as in std.
class condition_variable : private condition_variable_any {
public:
    using condition_variable_any::notify_all;
    using condition_variable_any::notify_one;

    void wait(std::unique_lock<mutex>& lock) { condition_variable_any::wait(checked(lock)); }
    template <class Predicate>
    void wait(std::unique_lock<mutex>& lock, Predicate done) {
        condition_variable_any::wait(checked(lock), std::move(done));
    }
    task<void> async_wait(std::unique_lock<mutex>& lock);
    template <class Predicate>
    task<void> async_wait(std::unique_lock<mutex>& lock, Predicate done);
    template <class Rep, class Period>
    task<cv_status> async_wait_for(std::unique_lock<mutex>& lock,
                                   std::chrono::duration<Rep, Period> duration);
    template <class Rep, class Period, class Predicate>
    task<bool> async_wait_for(std::unique_lock<mutex>& lock,
                              std::chrono::duration<Rep, Period> duration, Predicate done);
    template <class Clock, class Duration>
    cv_status wait_until(std::unique_lock<mutex>& lock,
                         const std::chrono::time_point<Clock, Duration>& when) {
        return condition_variable_any::wait_until(checked(lock), when);
    }
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex>& lock,
                    const std::chrono::time_point<Clock, Duration>& when, Predicate done) {
        return condition_variable_any::wait_until(checked(lock), when, std::move(done));
    }
    template <class Rep, class Period>
    cv_status wait_for(std::unique_lock<mutex>& lock,
                       const std::chrono::duration<Rep, Period>& duration) {
        return condition_variable_any::wait_for(checked(lock), duration);
    }
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& duration,
                  Predicate done) {
        return condition_variable_any::wait_for(checked(lock), duration, std::move(done));
    }

private:
    static std::unique_lock<mutex>& checked(std::unique_lock<mutex>& lock) {
        if (!lock.owns_lock())
            throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                                    "sennit: [SNT-210] condition_variable::wait: the caller's lock "
                                    "owns no mutex; lock it before the wait");
        return lock;
    }
};

} // namespace sennit
