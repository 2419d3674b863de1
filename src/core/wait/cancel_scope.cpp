// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/cancel_scope.hpp"

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/claimed_waiters.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sys/mutant.hpp"

#include <algorithm>
#include <mutex>

namespace sennit::sched {

cancel_scope::cancel_scope(cancel_scope* parent, std::int64_t deadline_ns) noexcept
    : parent_(parent), deadline_ns_(std::min(deadline_ns, parent ? parent->deadline_ns_ : never)) {
    if (!parent) return;
    std::lock_guard guard(parent->lock_);
    parent->children_.push_back(*this);
    // Not shared yet, except with a thread that comes by the parent's lock.
    if (parent->cancelled()) cancelled_.store_rlx(1);
}

cancel_scope::~cancel_scope() {
    // A child made in a coroutine that was suspended since may still be there.
    SENNIT_CHECK(children_.empty(),
                 "[SNT-113] a fiber or a with_timeout ended before a nursery that was made in it; "
                 "destroy the nursery in the block that made it");
    if (!parent_) return;
    std::lock_guard guard(parent_->lock_);
    parent_->children_.remove(*this);
}

// Requires the lock. Returns the first child scope that has to be cancelled, too; null: none.
cancel_scope* cancel_scope::take_cancel(claimed_waiters& woken) noexcept {
    if (cancelled_.load_rlx() != 0) return nullptr; // Written under the lock.
    cancelled_.store_rel(1);                        // pairs with cancel_called
    if (waits_ && claim(*waits_, wake_reason::cancelled) == claim_result::wake_it)
        woken.add(*waits_);
    return children_.front();
}

// Cancels this scope and all scopes below it, depth first. Locks are taken downwards and held from
// here to the current scope, and a child leaves its parent's list under the parent's lock, so every
// visited scope lives. There is no recursion: scopes may be nested deeper than the caller's stack
// is.
void cancel_scope::cancel_into(claimed_waiters& woken) noexcept {
    for (cancel_scope* at = this;;) {
        at->lock_.lock();
        cancel_scope* below = at->take_cancel(woken);
        while (!below) {
            at->lock_.unlock();
            if (at == this) return;
            cancel_scope* const above = at->parent_; // Its lock is held.
            below = above->children_.after(*at);
            if (!below) at = above;
        }
        at = below;
    }
}

void cancel_scope::cancel() noexcept {
    claimed_waiters woken;
    cancel_into(woken);
    woken.wake_all();
}

bool cancel_scope::enter(wait_point& point) noexcept {
    std::lock_guard guard(lock_);
    if (!SENNIT_MUTANT("look for a cancel before a wait") && cancelled()) return false;
    waits_ = &point;
    return true;
}

void cancel_scope::leave() noexcept {
    std::lock_guard guard(lock_);
    waits_ = nullptr;
}

} // namespace sennit::sched
