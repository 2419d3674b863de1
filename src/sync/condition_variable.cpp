// SPDX-License-Identifier: Apache-2.0
#include "sennit/condition_variable.hpp"

#include "sennit/detail/base/check.hpp"

#include <mutex>

namespace sennit {

condition_variable_any::~condition_variable_any() {
    lock_.lock(); // who has notified one that did not sleep yet may be on its way out
    for (const sched::wait_entry* one = waiters_.front(); one; one = waiters_.after(*one))
        SENNIT_CHECK(one->point.reason() >= sched::wake_reason::timed_out,
                     "[SNT-209] a condition variable was destroyed while a fiber or thread waits "
                     "for it; let every "
                     "waiter return before");
    if (to_leave_ == 0) {
        lock_.unlock();
        return;
    }
    ending_ = true; // their waits have ended otherwise, before they were notified; they come
                    // without the user's lock
    (void)sched::block(waiters_, lock_,
                       {.cancellable = false, .what = "~condition_variable", .on = this});
}

void condition_variable_any::add(sched::wait_entry& entry) noexcept {
    std::lock_guard guard(lock_);
    sched::enqueue(waiters_, entry);
    ++to_leave_;
    any_.store_rlx(1); // orders nothing: the user's lock does
}

// One that was notified is not in the list, and the object may be gone.
void condition_variable_any::remove(sched::wait_entry& entry) noexcept {
    if (entry.point.reason() >= sched::wake_reason::source) return;
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    sched::dequeue(waiters_, entry);
    any_.store_rlx(waiters_.empty() ? 0 : 1); // as in add: orders nothing
    if (--to_leave_ == 0 && ending_)
        (void)woken.take_first(waiters_); // the destructor is all that is there
}

// Under the lock. One that is claimed before it sleeps may be gone at once: it does not come to
// `remove`.
sched::claimed condition_variable_any::claim_next() noexcept {
    while (const sched::wait_entry* first = waiters_.front()) {
        const bool sole = first->point.sole;
        if (const sched::claimed one = sched::claim_first(waiters_, 1)) {
            if (!sole) --to_leave_;
            return one;
        }
    }
    return {};
}

// Who waits has entered the list before it gave the user's lock back. So one that changed the
// condition under that lock after that sees it in `any_`, by that lock's own order; one that
// changed it before was seen by who waits.
void condition_variable_any::notify_one() noexcept {
    if (any_.load_rlx() == 0) return; // pairs through the user's lock
    sched::claimed next;
    {
        std::lock_guard guard(lock_);
        next = claim_next();
        any_.store_rlx(waiters_.empty() ? 0 : 1); // as in add: orders nothing
    }
    sched::end_wait(next);
}

void condition_variable_any::notify_all() noexcept {
    if (any_.load_rlx() == 0) return; // pairs through the user's lock
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    while (const sched::claimed next = claim_next()) woken.add(next);
    any_.store_rlx(0); // as in add: orders nothing
}

} // namespace sennit
