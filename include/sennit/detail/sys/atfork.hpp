// SPDX-License-Identifier: Apache-2.0
// Process-wide locks that are held across fork(). No other thread is inside such a lock when fork()
// runs. So the child, which has none of the parent's other threads, finds the locks free and the
// data under them consistent.
//
// A lock is registered once, where it is defined, and lives as long as the process. These locks are
// never held while user code runs, so a thread that calls fork() holds none of them. Locks that
// belong to a runtime need no registration, because a child does not use its parent's runtimes.
// State that is not worth keeping is created anew in the child (core/runtime/fork_safe_static.hpp).
//
// Cost: one locked instruction for each registered lock at each fork.
#pragma once

#include <cstddef>

namespace sennit::base {

class atfork_lock {
public:
    template <class Lock>
    explicit atfork_lock(Lock& lock) noexcept : atfork_lock(&lock, 1, 0) {}
    // Registers the lock of every element of an array; `lock` is the lock of the first element.
    template <class T, std::size_t size, class Lock>
    atfork_lock(T (&)[size], Lock& lock) noexcept : atfork_lock(&lock, size, sizeof(T)) {}
    atfork_lock(const atfork_lock&) = delete;

    // Called before and after fork(): the first in the parent, the second in both processes.
    static void lock_all() noexcept;
    static void unlock_all() noexcept;

private:
    template <class Lock>
    atfork_lock(Lock* first, std::size_t count, std::size_t step) noexcept
        // SAFETY: try_lock_ and unlock_ below cast the pointer back to Lock*.
        : first_(reinterpret_cast<std::byte*>(first)), count_(count), step_(step),
          try_lock_(
              [](std::byte* lock) noexcept { return reinterpret_cast<Lock*>(lock)->try_lock(); }),
          unlock_([](std::byte* lock) noexcept { reinterpret_cast<Lock*>(lock)->unlock(); }) {
        enlist();
    }
    void enlist() noexcept;
    bool try_lock() const noexcept;
    // Unlocks the first `count` locks.
    void unlock(std::size_t count) const noexcept;
    static void unlock(const atfork_lock* first, const atfork_lock* end) noexcept;

    std::byte* const first_;
    const std::size_t count_;
    // Distance in bytes from one lock to the next.
    const std::size_t step_;
    bool (*const try_lock_)(std::byte*) noexcept;
    void (*const unlock_)(std::byte*) noexcept;
    const atfork_lock* next_ = nullptr;
};

} // namespace sennit::base
