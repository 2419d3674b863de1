// SPDX-License-Identifier: Apache-2.0
// A part of an activity's life that can be ended from outside: its blocked calls return at once,
// cancelled.
//
// Who uses it: `nursery` gives each child one, `with_timeout` its function. Scopes nest as a tree;
// cancelling one cancels all below it. Only one activity at a time runs in a scope, so at most one
// waits in it. A scope may have a deadline, by which it is cancelled without anybody's doing: each
// wait in it ends then.
//
// Protocol. A waiter registers under the scope's lock, which also tells it whether it comes too
// late; it leaves under the lock before its frame dies. `cancel` marks the scope and claims the
// registered wait under that lock; so either the waiter sees the mark, or the canceller sees the
// waiter.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstdint>

namespace sennit::sched {

struct wait_point;
struct waiter;

class cancel_scope : public base::list_node {
public:
    // Below `parent`, which must outlive it; null: a root. Cancelled at once if the parent is; the
    // earliest deadline of those above counts, too.
    explicit cancel_scope(cancel_scope* parent, std::int64_t deadline_ns = never) noexcept;
    ~cancel_scope();
    cancel_scope(const cancel_scope&) = delete;

    // Thread-safe; any number of times. Wakes what waits in the scope and below.
    void cancel() noexcept;
    bool cancelled() const noexcept { return cancel_called() || expired(); }
    // By `cancel` here or above, not by a deadline.
    bool cancel_called() const noexcept { return cancelled_.load_acq() != 0; } // pairs with cancel
    cancel_scope* parent() const noexcept { return parent_; }
    std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
    // By a deadline of its own or above.
    bool expired() const noexcept { return deadline_ns_ != never && now_ns() >= deadline_ns_; }

    // For wait(): false when the scope is cancelled; then nothing was registered.
    bool enter(wait_point& point) noexcept;
    void leave() noexcept;

private:
    void cancel_into(base::intrusive_queue<waiter>& woken) noexcept;
    cancel_scope* take_cancel(base::intrusive_queue<waiter>& woken) noexcept;

    cancel_scope* const parent_;
    const std::int64_t deadline_ns_;
    base::atomic<std::uint32_t> cancelled_{0};
    base::spin_lock lock_; // guards the two below
    wait_point* waits_ = nullptr;
    base::intrusive_queue<cancel_scope> children_;
};

} // namespace sennit::sched
