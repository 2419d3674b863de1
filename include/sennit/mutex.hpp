// SPDX-License-Identifier: Apache-2.0
// mutex, timed_mutex: mutual exclusion for fibers, forked children and OS threads at once, with the
// meaning of std::mutex.
//
// Who waits blocks only itself: a fiber leaves its worker, a thread sleeps. Use them with
// std::unique_lock, std::scoped_lock and std::lock. A lock belongs to the fiber (or forked child,
// or thread) that took it, wherever that runs. Waiting for a lock is not a point of cancellation.
//
// Fairness. Who comes first while the lock is free gets it, also before those that wait: handing it
// to a sleeper would leave it idle for as long as a wake-up takes. But a waiter that has lost for a
// millisecond is handed the lock (as in Go's sync.Mutex). Errors: lock by the owner throws
// std::system_error(resource_deadlock_would_occur), unlock by somebody else
// (operation_not_permitted).
// Cost: one compare-and-swap to lock, one to unlock, when nobody else wants it.
//
// State of the word: the owner's identity (0: free), and in its low bits `waiting`: somebody is in
// the list; `woken`: one who was is on the way to try again, so unlock need not wake another. The
// bits change, and the list, under `lock_`. An owner leaves a word with bits under `lock_`, too,
// but while `woken` by a compare-and-swap that keeps them: who is on the way looks under `lock_`
// before it sleeps again, and takes `woken` back then, so one of the two fails.
#pragma once

#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/timed_lock.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <cstdint>

namespace sennit {

namespace detail {
class lock_case; // of select
}

class mutex {
public:
    mutex() noexcept = default;
    ~mutex();
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    void lock() {
        std::uintptr_t seen = 0;
        const std::uintptr_t me = self();
        if (!base::elidable(word_).cas_acq(seen, me)) [[unlikely]] // pairs with unlock
            (void)lock_slowly(me, sched::never);
    }
    bool try_lock() noexcept {
        std::uintptr_t seen = 0;
        return base::elidable(word_).cas_acq(seen, self()) ||
               (seen != 0 && try_lock_slowly()); // pairs with unlock
    }
    void unlock() {
        std::uintptr_t seen = self();
        if (!base::elidable(word_).cas_rel(seen, 0)) [[unlikely]] // pairs with lock
            unlock_slowly();
    }

protected:
    bool lock_until(std::int64_t deadline_ns) {
        std::uintptr_t seen = 0;
        const std::uintptr_t me = self();
        return base::elidable(word_).cas_acq(seen, me) ||
               lock_slowly(me, deadline_ns); // pairs with unlock
    }
    bool owned() const noexcept {
        return (word_.load_rlx() & ~bits) == self();
    } // true only if we wrote it

private:
    friend class detail::lock_case;
    static constexpr std::uintptr_t waiting = 1, woken = 2, bits = 3;
    // What unlock finds in the entry of one who waits.
    struct attempt {
        std::uintptr_t who;
        bool starving; // hand it over
        bool handed;   // the word says already that it is ours
    };

    static std::uintptr_t self() noexcept {
        return reinterpret_cast<std::uintptr_t>(sched::current_identity());
    }
    bool lock_slowly(std::uintptr_t me, std::int64_t deadline_ns);
    bool try_lock_slowly() noexcept;
    static const void* holder(const void* on) noexcept; // for reports
    void unlock_slowly();

    base::atomic<std::uintptr_t> word_{0};
    base::spin_lock lock_;
    sched::wait_list waiters_;
};

class timed_mutex : public sched::timed_lock<mutex> {};

// The owner may lock again, and unlocks as often.
class recursive_mutex : private mutex {
public:
    void lock() {
        if (!owned()) mutex::lock();
        ++depth_;
    }
    bool try_lock() noexcept { return count(owned() || mutex::try_lock()); }
    // Throws std::system_error(operation_not_permitted) for anybody but the owner.
    void unlock() {
        if (!owned() || --depth_ == 0) mutex::unlock();
    }

protected:
    bool lock_until(std::int64_t deadline_ns) {
        return count(owned() || mutex::lock_until(deadline_ns));
    }

private:
    bool count(bool locked) noexcept {
        if (locked) ++depth_; // who has not got it must not touch what is the owner's
        return locked;
    }
    std::uint64_t depth_ = 0; // the owner's
};

class recursive_timed_mutex : public sched::timed_lock<recursive_mutex> {};

} // namespace sennit
