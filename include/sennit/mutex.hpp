// SPDX-License-Identifier: Apache-2.0
// mutex, timed_mutex, recursive_mutex, recursive_timed_mutex: mutual exclusion for fibers, forked
// children and OS threads, with the meaning of their std counterparts.
//
// A blocked fiber leaves its worker; a blocked thread sleeps. Use the classes with
// std::unique_lock, std::scoped_lock and std::lock. A lock belongs to the fiber (or forked child,
// or thread) that took it, on whichever thread that fiber runs. For many readers use
// `shared_mutex`; to wait for conditions inside, use `condition_variable` or `monitor`.
//
//     sennit::mutex guard;
//     {
//         std::scoped_lock lock(guard);
//         ++shared_count;
//     }
//
// Cancellation: waiting for a lock is not a point of cancellation.
// Fairness: while the lock is free, the first caller takes it, even before callers that wait.
// Handing it to a sleeping waiter would leave it idle for the length of a wake-up. A waiter that
// has lost for a millisecond is handed the lock (as in Go's sync.Mutex).
// Exceptions: lock by the owner throws std::system_error(resource_deadlock_would_occur). unlock by
// a caller that is not the owner throws std::system_error(operation_not_permitted).
// Cost: without contention, one compare-and-swap to lock and one to unlock, or no locked
// instruction while one worker uses the mutex. The first use by another thread then takes 1 to 30
// us.
//
// State of the word: the owner's identity (0: free), two flags in its low bits, and in its high
// bits the worker that the mutex is biased to (sennit/detail/sys/biased_word.hpp). `waiting` says
// that the list holds a waiter. `woken` says that a woken waiter is on its way to try again, so
// that unlock need not wake another. The flags and the list change under `lock_`. An owner that
// leaves a word with flags does so under `lock_`, too; but while `woken` is set, it uses a
// compare-and-swap that keeps the flags. The woken waiter checks the word under `lock_` before it
// sleeps again, and takes `woken` back then. One of the two fails in that case, so no wake-up is
// lost.
#pragma once

#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/timed_lock.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/biased_word.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <mutex>
#include <utility>

namespace sennit {

namespace detail {
class lock_case; // of select
class lock_awaiter;
class scoped_lock_awaiter;
class timed_lock_awaiter;
class recursive_lock_awaiter;
class recursive_scoped_lock_awaiter;
class recursive_timed_lock_awaiter;
} // namespace detail

class mutex {
public:
    mutex() noexcept = default;
    ~mutex();
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    // Blocks until the caller owns the mutex. Throws std::system_error if the caller already owns
    // it.
    void lock() {
        if (const std::uintptr_t me = self(); !lock_plainly(me))
            (void)lock_shared(me, sched::never);
    }
    // Takes the mutex if it is free, and returns true. Returns false otherwise. Does not block.
    bool try_lock() noexcept {
        const std::uintptr_t me = self();
        return lock_plainly(me) || lock_neutral(me) || try_lock_slowly();
    }
    // Releases the mutex. Does not block. Throws std::system_error unless the caller owns it.
    void unlock() {
        if (!base::update_plainly(word_, self(), std::uintptr_t{0})) unlock_shared();
    }

    // Suspends the awaiting task until it owns the mutex. A waiting task is handed the lock, so no
    // caller overtakes it. Is no point of cancellation. Throws like lock.
    inline detail::lock_awaiter async_lock() noexcept;
    // Waits as async_lock does, and returns a std::unique_lock that owns the mutex.
    inline detail::scoped_lock_awaiter async_scoped_lock() noexcept;

protected:
    bool lock_until(std::int64_t deadline_ns) {
        const std::uintptr_t me = self();
        return lock_plainly(me) || lock_shared(me, deadline_ns);
    }
    bool owned() const noexcept {
        // Orders nothing: the result is true only if this owner wrote the word.
        return owner_in(word_.load_rlx()) == self();
    }

private:
    friend class detail::lock_case;
    friend class detail::lock_awaiter;
    static constexpr std::uintptr_t waiting = 1, woken = 2, bits = 3;
    static std::uintptr_t owner_in(std::uintptr_t word) noexcept {
        return base::without_bias(word) & ~bits;
    }
    // The data that unlock finds in the entry of a waiter.
    struct attempt {
        std::uintptr_t who;
        bool starving; // unlock must hand the lock to this waiter
        bool handed;   // the word already names this waiter as the owner
    };

    static std::uintptr_t self() noexcept {
        return reinterpret_cast<std::uintptr_t>(sched::current_identity());
    }
    // Takes the mutex if it is free, no task waits, and the caller needs no locked instruction.
    bool lock_plainly(std::uintptr_t me) noexcept {
        return base::update_plainly(word_, std::uintptr_t{0}, me);
    }
    // Takes the mutex by a locked instruction, if it is free, no task waits, and it is not biased.
    bool lock_neutral(std::uintptr_t me) noexcept;
    bool lock_shared(std::uintptr_t me, std::int64_t deadline_ns);
    void unlock_shared();
    void take_bias(std::uintptr_t me) noexcept;
    bool lock_slowly(std::uintptr_t me, std::int64_t deadline_ns);
    bool lock_or_wait(std::uintptr_t me, std::int64_t deadline_ns);
    bool try_lock_slowly() noexcept;
    bool lock_or_list() noexcept;
    static const void* holder(const void* on) noexcept; // for reports
    void unlock_slowly();

    base::atomic<std::uintptr_t> word_{0};
    base::spin_lock lock_;
    base::lock_uses uses_; // the owner of the mutex changes it
    sched::wait_list waiters_;
};

namespace detail {

class lock_awaiter : public sched::awaitable {
public:
    explicit lock_awaiter(mutex& wanted) noexcept : wanted_(wanted) {}
    lock_awaiter(lock_awaiter&& unused) noexcept : wanted_(unused.wanted_) {}
    bool await_ready() { return wanted_.try_lock() || lock_or_hold(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return suspend_until(caller, sched::never);
    }
    void await_resume() noexcept { (void)end(); }

protected:
    std::coroutine_handle<> suspend_until(std::coroutine_handle<> caller, std::int64_t deadline_ns);
    // Returns true if the task owns the mutex.
    bool end() noexcept { return !waits_ || end_wait(); }

    mutex& wanted_;

private:
    bool lock_or_hold(); // False: the lock of the list is held.
    bool end_wait() noexcept;
    mutex::attempt mine_{0, true, false};
    bool waits_ = false;
};

class scoped_lock_awaiter : public lock_awaiter {
public:
    using lock_awaiter::lock_awaiter;
    std::unique_lock<mutex> await_resume() noexcept {
        lock_awaiter::await_resume();
        return std::unique_lock(wanted_, std::adopt_lock);
    }
};

class timed_lock_awaiter : public lock_awaiter {
public:
    timed_lock_awaiter(mutex& wanted, std::int64_t deadline_ns) noexcept
        : lock_awaiter(wanted), deadline_ns_(deadline_ns) {}
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return suspend_until(caller, deadline_ns_);
    }
    bool await_resume() noexcept { return end(); }

private:
    std::int64_t deadline_ns_;
};

} // namespace detail

inline detail::lock_awaiter mutex::async_lock() noexcept {
    return detail::lock_awaiter(*this);
}
inline detail::scoped_lock_awaiter mutex::async_scoped_lock() noexcept {
    return detail::scoped_lock_awaiter(*this);
}

// A mutex with try_lock_for and try_lock_until, which block until the deadline at most and return
// whether the caller owns the mutex.
class timed_mutex : public sched::timed_lock<mutex> {
public:
    // Suspend the awaiting task until it owns the mutex, but at most until the deadline, which is a
    // time of the steady clock. Return whether the task owns the mutex. Otherwise like async_lock.
    template <class Rep, class Period>
    detail::timed_lock_awaiter
    async_try_lock_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
        return {*this, sched::deadline_in(duration)};
    }
    template <class Duration>
    detail::timed_lock_awaiter async_try_lock_until(
        const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) noexcept {
        return {*this, sched::deadline_of(when)};
    }
};

// A mutex that its owner may lock again. The owner must unlock it as often as it has locked it.
class recursive_mutex : private mutex {
public:
    // Blocks until the caller owns the mutex. Adds one level if the caller already owns it.
    void lock() {
        if (!owned()) mutex::lock();
        ++depth_;
    }
    // Takes the mutex or adds one level without blocking, and returns true. Returns false if
    // another task owns it.
    bool try_lock() noexcept { return count(owned() || mutex::try_lock()); }
    // Releases one level of the lock. Throws std::system_error(operation_not_permitted) unless the
    // caller is the owner.
    void unlock() {
        if (!owned() || --depth_ == 0) mutex::unlock();
    }

    // Suspends the awaiting task until it owns the mutex, or adds one level if the task already
    // owns it. The levels belong to the task and to the tasks that it awaits. A waiting task is
    // handed the lock. Is no point of cancellation.
    inline detail::recursive_lock_awaiter async_lock() noexcept;
    // Waits as async_lock does, and returns a std::unique_lock that owns one level.
    inline detail::recursive_scoped_lock_awaiter async_scoped_lock() noexcept;

protected:
    bool lock_until(std::int64_t deadline_ns) {
        return count(owned() || mutex::lock_until(deadline_ns));
    }

private:
    friend class detail::recursive_lock_awaiter;
    bool count(bool locked) noexcept {
        // Only the owner may touch `depth_`.
        if (locked) ++depth_;
        return locked;
    }
    std::uint64_t depth_ = 0; // written only by the owner
};

namespace detail {

class recursive_lock_awaiter : public lock_awaiter {
public:
    explicit recursive_lock_awaiter(recursive_mutex& wanted) noexcept
        : lock_awaiter(wanted), mutex_(wanted) {}
    recursive_lock_awaiter(recursive_lock_awaiter&& unused) noexcept
        : lock_awaiter(std::move(unused)), mutex_(unused.mutex_) {}
    bool await_ready() { return mutex_.owned() || lock_awaiter::await_ready(); }
    void await_resume() noexcept { (void)end(); }

protected:
    // Returns true if the task owns a further level.
    bool end() noexcept { return mutex_.count(lock_awaiter::end()); }

    recursive_mutex& mutex_;
};

class recursive_scoped_lock_awaiter : public recursive_lock_awaiter {
public:
    using recursive_lock_awaiter::recursive_lock_awaiter;
    std::unique_lock<recursive_mutex> await_resume() noexcept {
        (void)end();
        return std::unique_lock(mutex_, std::adopt_lock);
    }
};

class recursive_timed_lock_awaiter : public recursive_lock_awaiter {
public:
    recursive_timed_lock_awaiter(recursive_mutex& wanted, std::int64_t deadline_ns) noexcept
        : recursive_lock_awaiter(wanted), deadline_ns_(deadline_ns) {}
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return suspend_until(caller, deadline_ns_);
    }
    bool await_resume() noexcept { return end(); }

private:
    std::int64_t deadline_ns_;
};

} // namespace detail

inline detail::recursive_lock_awaiter recursive_mutex::async_lock() noexcept {
    return detail::recursive_lock_awaiter(*this);
}
inline detail::recursive_scoped_lock_awaiter recursive_mutex::async_scoped_lock() noexcept {
    return detail::recursive_scoped_lock_awaiter(*this);
}

// A recursive_mutex with try_lock_for and try_lock_until.
class recursive_timed_mutex : public sched::timed_lock<recursive_mutex> {
public:
    // Suspend the awaiting task until it owns the mutex, but at most until the deadline, which is a
    // time of the steady clock. Return whether the task owns a further level.
    template <class Rep, class Period>
    detail::recursive_timed_lock_awaiter
    async_try_lock_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
        return {*this, sched::deadline_in(duration)};
    }
    template <class Duration>
    detail::recursive_timed_lock_awaiter async_try_lock_until(
        const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) noexcept {
        return {*this, sched::deadline_of(when)};
    }
};

} // namespace sennit
