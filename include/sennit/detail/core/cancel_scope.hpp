// SPDX-License-Identifier: Apache-2.0
// A part of a strand's life that can be ended from outside: its blocked calls return immediately,
// cancelled.
//
// Used by `nursery`, which gives each child a scope, and by `with_timeout`. Scopes nest as a tree;
// cancelling a scope cancels all scopes below it. Only one strand at a time runs in a scope, so at
// most one wait is registered in it. A scope may have a deadline. When the deadline comes, every
// wait in the scope ends, without a call of `cancel`.
//
// Protocol. A waiter registers under the scope's lock, and learns there whether the scope is
// already cancelled. The waiter unregisters under the lock before its frame ends. `cancel` marks
// the scope and claims the registered wait under the lock. So either the waiter sees the mark, or
// the canceller sees the waiter.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstdint>

namespace sennit::sched {

struct wait_point;
class claimed_waiters; // claimed_waiters.hpp

class cancel_scope : public base::list_node {
public:
    // Creates a scope below `parent`, which must outlive it; null: a root. The scope starts
    // cancelled if its parent is cancelled. Its deadline is the earliest of its own and those above
    // it.
    explicit cancel_scope(cancel_scope* parent, std::int64_t deadline_ns = never) noexcept;
    ~cancel_scope();
    cancel_scope(const cancel_scope&) = delete;

    // Cancels the scope and wakes the waits in it and below it. Thread-safe; may be called any
    // number of times.
    void cancel() noexcept;
    bool cancelled() const noexcept { return cancel_called() || expired(); }
    // True if `cancel` was called on this scope or on one above it. A deadline does not count.
    // Pairs with cancel.
    bool cancel_called() const noexcept { return cancelled_.load_acq() != 0; }
    cancel_scope* parent() const noexcept { return parent_; }
    std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
    // True if a deadline of this scope or of one above it has come.
    bool expired() const noexcept { return deadline_ns_ != never && now_ns() >= deadline_ns_; }

    // Registers a wait. False if the scope is cancelled; the wait is then not registered.
    bool enter(wait_point& point) noexcept;
    void leave() noexcept;

private:
    void cancel_into(claimed_waiters& woken) noexcept;
    cancel_scope* take_cancel(claimed_waiters& woken) noexcept;

    cancel_scope* const parent_;
    const std::int64_t deadline_ns_;
    base::atomic<std::uint32_t> cancelled_{0};
    base::spin_lock lock_; // guards waits_ and children_
    wait_point* waits_ = nullptr;
    base::intrusive_queue<cancel_scope> children_;
};

} // namespace sennit::sched
