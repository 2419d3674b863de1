// SPDX-License-Identifier: Apache-2.0
// Locks of the whole process, held while it forks: no other thread is inside when fork() comes, so
// the child, which has none of these threads, finds them free and what they guard whole.
//
// A lock is named where it is defined, once, and lives as long as the process. Nobody calls fork()
// with one of them in his hands: they are not held over users' code. Locks that a runtime owns need
// no such thing, since a child does not use its parent's runtimes; and what is not worth keeping is
// made anew in a child (core/runtime/fork_safe_static.hpp). Cost: a locked instruction for each,
// with each fork.
#pragma once

#include <cstddef>

namespace sennit::base {

class atfork_lock {
public:
    template <class Lock>
    explicit atfork_lock(Lock& lock) noexcept : atfork_lock(&lock, 1, 0) {}
    // `lock` is the first one's in an array.
    template <class T, std::size_t size, class Lock>
    atfork_lock(T (&)[size], Lock& lock) noexcept : atfork_lock(&lock, size, sizeof(T)) {}
    atfork_lock(const atfork_lock&) = delete;

    // Around fork(), the second one in both processes.
    static void lock_all() noexcept;
    static void unlock_all() noexcept;

private:
    template <class Lock>
    atfork_lock(Lock* first, std::size_t count, std::size_t step) noexcept
        : first_(reinterpret_cast<std::byte*>(first)), count_(count),
          step_(step), // SAFETY: cast back below
          try_lock_(
              [](std::byte* lock) noexcept { return reinterpret_cast<Lock*>(lock)->try_lock(); }),
          unlock_([](std::byte* lock) noexcept { reinterpret_cast<Lock*>(lock)->unlock(); }) {
        enlist();
    }
    void enlist() noexcept;
    bool try_lock() const noexcept;
    void unlock(std::size_t count) const noexcept; // the first ones
    static void unlock(const atfork_lock* first, const atfork_lock* end) noexcept;

    std::byte* const first_;
    const std::size_t count_;
    const std::size_t step_; // bytes from one to the next
    bool (*const try_lock_)(std::byte*) noexcept;
    void (*const unlock_)(std::byte*) noexcept;
    const atfork_lock* next_ = nullptr;
};

} // namespace sennit::base
