// SPDX-License-Identifier: Apache-2.0
// A part of an activity's life that can be ended from outside: its blocked calls return at once, cancelled.
//
// Who uses it: `nursery` gives each child one, `with_timeout` its function. Scopes nest as a tree; cancelling one cancels
// all below it. Only one activity at a time runs in a scope, so at most one waits in it.
//
// Protocol. A waiter registers under the scope's lock, which also tells it whether it comes too late; it leaves under the
// lock before its frame dies. `cancel` marks the scope and claims the registered wait under that lock; so either the
// waiter sees the mark, or the canceller sees the waiter.
#pragma once

#include "sennit/base/atomic.hpp"
#include "sennit/base/intrusive_queue.hpp"
#include "sennit/base/spin_lock.hpp"

#include <cstdint>

namespace sennit::sched {

struct wait_point;
struct waiter;

class cancel_scope : public base::list_node {
public:
    // Below `parent`, which must outlive it; null: a root. Cancelled at once if the parent is.
    explicit cancel_scope(cancel_scope* parent) noexcept;
    ~cancel_scope();
    cancel_scope(const cancel_scope&) = delete;

    // Thread-safe; any number of times. Wakes what waits in the scope and below.
    void cancel() noexcept;
    bool cancelled() const noexcept { return cancelled_.load_acq() != 0; } // pairs with cancel

    // For wait(): false when the scope is cancelled; then nothing was registered.
    bool enter(wait_point& point) noexcept;
    void leave() noexcept;

private:
    void cancel_into(base::intrusive_queue<waiter>& woken) noexcept;

    cancel_scope* const parent_;
    base::atomic<std::uint32_t> cancelled_{0};
    base::spin_lock lock_; // guards the two below
    wait_point* waits_ = nullptr;
    base::intrusive_queue<cancel_scope> children_;
};

} // namespace sennit::sched
