// SPDX-License-Identifier: Apache-2.0
// Work to run right after a stack switch, once the outgoing context has been saved: none, release a
// spin lock, or run the outgoing context's callback. The context that switches away sets it; the
// context that arrives takes it. Both run on the same worker, and no other thread looks, except for
// a dump that has halted the worker's thread.
#pragma once

#include "sennit/detail/sys/spin_lock.hpp"

#include <cstdint>

namespace sennit::sched {

class context;
struct waiter;

// The kind of work, packed into one word because every switch writes and reads it.
class post_switch_action {
public:
    post_switch_action() noexcept = default; // No work.
    explicit post_switch_action(context& left) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(&left)) {} // See worker::run_post_switch.
    explicit post_switch_action(base::spin_lock& held) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(&held) | lock_mark) {}

    bool none() const noexcept { return word_ == 0; }
    // The lock to release; null: the work is that of `left`.
    base::spin_lock* lock() const noexcept {
        // SAFETY: this is the address that the mark was added to.
        return word_ & lock_mark ? reinterpret_cast<base::spin_lock*>(word_ - lock_mark) : nullptr;
    }
    // SAFETY: there is no mark.
    context& left() const noexcept { return *reinterpret_cast<context*>(word_); }

private:
    static constexpr std::uintptr_t lock_mark = 1;
    static_assert(alignof(base::spin_lock) > lock_mark);
    std::uintptr_t word_ = 0;
};

// The work, and the callback of the outgoing context if there is one.
struct post_switch {
    using callback = bool (*)(void*, waiter&) noexcept;

    post_switch_action action;
    callback fn = nullptr;
    void* argument = nullptr;
    waiter* who = nullptr;
};

} // namespace sennit::sched
