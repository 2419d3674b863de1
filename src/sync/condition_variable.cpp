// SPDX-License-Identifier: Apache-2.0
#include "sennit/condition_variable.hpp"

#include "sennit/detail/base/check.hpp"

#include <mutex>

namespace sennit {

condition_variable_any::~condition_variable_any() {
    // A notifier that has claimed a waiter before it slept may not have left the lock yet.
    lock_.lock();
    for (const sched::wait_entry* one = waiters_.front(); one; one = waiters_.after(*one))
        SENNIT_CHECK(one->point().reason() >= sched::wake_reason::timed_out,
                     "[SNT-209] a condition variable was destroyed while a fiber or thread waits "
                     "for it; let every waiter return before");
    if (to_leave_ == 0) {
        lock_.unlock();
        return;
    }
    // The waits of these waiters have ended for another reason before a notification. They come to
    // `remove` without the user's lock.
    ending_ = true;
    (void)sched::block(waiters_, lock_,
                       {.cancellable = false, .what = "~condition_variable", .on = this});
}

void condition_variable_any::add(sched::wait_entry& entry) noexcept {
    std::lock_guard guard(lock_);
    sched::enqueue(waiters_, entry);
    ++to_leave_;
    any_.store_rlx(1); // orders nothing: the user's lock does
}

// A notified waiter is not in the list, and the condition variable may be gone.
void condition_variable_any::remove(sched::wait_entry& entry) noexcept {
    if (entry.point().reason() >= sched::wake_reason::source) return;
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    sched::dequeue(waiters_, entry);
    any_.store_rlx(waiters_.empty() ? 0 : 1); // orders nothing, as in add
    // The only waiter left is the destructor.
    if (--to_leave_ == 0 && ending_) (void)woken.take_first(waiters_);
}

// Called under the lock. A waiter that is claimed before it sleeps may leave immediately: it does
// not come to `remove`.
sched::claimed condition_variable_any::claim_next() noexcept {
    while (const sched::wait_entry* first = waiters_.front()) {
        const bool sole = first->point().sole;
        if (const sched::claimed one = sched::claim_first(waiters_, 1)) {
            if (!sole) --to_leave_;
            return one;
        }
    }
    return {};
}

// A waiter enters the list before it releases the user's lock. A notifier that changes the
// condition under that lock later sees the waiter in `any_`, ordered by that lock. A waiter sees a
// change that was made earlier, and does not wait.
void condition_variable_any::notify_one() noexcept {
    if (any_.load_rlx() == 0) return; // pairs through the user's lock
    sched::claimed next;
    {
        std::lock_guard guard(lock_);
        next = claim_next();
        any_.store_rlx(waiters_.empty() ? 0 : 1); // orders nothing, as in add
    }
    sched::end_wait(next);
}

void condition_variable_any::notify_all() noexcept {
    if (any_.load_rlx() == 0) return; // pairs through the user's lock
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    while (const sched::claimed next = claim_next()) woken.add(next);
    any_.store_rlx(0); // orders nothing, as in add
}

} // namespace sennit
