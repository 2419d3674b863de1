// SPDX-License-Identifier: Apache-2.0
// condition_variable, condition_variable_any: as in std, for fibers, forked children and OS threads
// at once.
//
// A wait that is not notified ends only by its deadline, its stop token or a cancelled scope; there
// are no spurious wake-ups, but another may have changed the condition before the waiter has the
// lock again, so wait with a predicate. Points of cancellation: in a cancelled nursery or
// with_timeout a wait takes the lock again and throws `cancelled`. The object may be destroyed as
// soon as all waiters have been notified. Cost of a notification when nobody waits: one load.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/deadline.hpp"
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

    void notify_one() noexcept;
    void notify_all() noexcept;

    template <class Lock>
    void wait(Lock& lock) {
        (void)wait_until_ns(lock, sched::never);
    }
    template <class Lock, class Predicate>
    void wait(Lock& lock, Predicate done) {
        while (!done()) wait(lock);
    }
    template <class Lock, class Clock, class Duration>
    cv_status wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& when) {
        const cv_status ended = wait_until_ns(lock, sched::deadline_of(when));
        // Not a second wait where its own clock is late: who notified in between would be missed.
        return ended == cv_status::timeout && !sched::has_come(when) ? cv_status::no_timeout
                                                                     : ended;
    }
    template <class Lock, class Clock, class Duration, class Predicate>
    bool wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& when,
                    Predicate done) {
        while (!done())
            if (wait_until(lock, when) == cv_status::timeout) return done();
        return true;
    }
    template <class Lock, class Rep, class Period>
    cv_status wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& duration) {
        return wait_until_ns(lock, sched::deadline_in(duration));
    }
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& duration, Predicate done) {
        return wait_with(lock, std::stop_token(), sched::deadline_in(duration), done);
    }

    // The stop token ends the wait, too; the predicate's last answer is returned.
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

private:
    // The user's lock, given back during a wait and taken again at its end, however it ends.
    template <class Lock>
    struct released {
        explicit released(Lock& held) : lock(held) { lock.unlock(); }
        ~released() noexcept(false) { lock.lock(); }
        Lock& lock;
    };

    void add(sched::wait_entry& entry) noexcept;
    void remove(sched::wait_entry& entry) noexcept;
    sched::claimed claim_next() noexcept;

    // The same, and in the list meanwhile: from before the lock is given back, so that whoever
    // notifies after that finds it, until before it is there again, since who has it may notify all
    // and destroy the condition variable.
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

    // The wait that only a notification ends. The list stays locked until the waiter is saved, so
    // no claim decides; that is why the user's lock is one of ours, whose unlock neither blocks nor
    // notifies.
    [[gnu::always_inline]] sched::wake_reason
    wait_for_notification(std::unique_lock<mutex>& lock, const sched::wait_options& options) {
        std::unique_lock list(lock_);
        any_.store_rlx(1); // as in add: orders nothing
        released<std::unique_lock<mutex>> outside(lock);
        return sched::block(waiters_, *list.release(), options);
    }

    // This and the next are inline, since each function that was entered before the switch is
    // returned from by a misprediction: 0.91 of a hand-over with clang.
    template <class Lock>
    [[gnu::always_inline]] sched::wake_reason wait_once(Lock& lock, std::int64_t deadline_ns,
                                                        const std::stop_token& stop) {
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

    template <class Lock, class Predicate>
    bool wait_with(Lock& lock, std::stop_token stop, std::int64_t deadline_ns, Predicate& done) {
        while (!done()) {
            if (stop.stop_requested()) return false;
            const sched::wake_reason why = wait_once(lock, deadline_ns, stop);
            if (why == sched::wake_reason::cancelled) throw cancelled();
            if (why == sched::wake_reason::timed_out || why == sched::wake_reason::stopped)
                return done();
        }
        return true;
    }

    base::atomic<std::uint32_t> any_{0}; // whether the list has entries; written under the lock
    base::spin_lock lock_;               // guards all below
    bool ending_ = false;                // the destructor waits until nobody comes to `remove`
    std::uint32_t to_leave_ =
        0; // who will, unless it is notified: those that wait for something else, too
    sched::wait_list waiters_;
};

// The same for std::unique_lock<sennit::mutex> only, as in std.
class condition_variable : private condition_variable_any {
public:
    using condition_variable_any::notify_all;
    using condition_variable_any::notify_one;

    void wait(std::unique_lock<mutex>& lock) { condition_variable_any::wait(checked(lock)); }
    template <class Predicate>
    void wait(std::unique_lock<mutex>& lock, Predicate done) {
        condition_variable_any::wait(checked(lock), std::move(done));
    }
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
