// SPDX-License-Identifier: Apache-2.0
#include "sennit/condition_variable.hpp"

#include "sennit/base/check.hpp"

#include <mutex>

namespace sennit {

condition_variable_any::~condition_variable_any() {
    std::lock_guard guard(lock_); // who has notified one that did not sleep yet may be on its way out
    SENNIT_CHECK(waiters_.empty(), "a condition variable is destroyed while somebody waits for it");
}

void condition_variable_any::add(sched::wait_entry& entry) noexcept {
    std::lock_guard guard(lock_);
    sched::enqueue(waiters_, entry);
    any_.store_rlx(1); // orders nothing: the user's lock does
}

// One that was notified is not in the list, and the object may be gone.
void condition_variable_any::remove(sched::wait_entry& entry) noexcept {
    if (entry.point.reason() >= sched::wake_reason::source) return;
    std::lock_guard guard(lock_);
    sched::dequeue(waiters_, entry);
    any_.store_rlx(waiters_.empty() ? 0 : 1); // as in add: orders nothing
}

// Who waits has entered the list before it gave the user's lock back. So one that changed the condition under that lock
// after that sees it in `any_`, by that lock's own order; one that changed it before was seen by who waits.
void condition_variable_any::notify_one() noexcept {
    if (any_.load_rlx() == 0) return; // pairs through the user's lock
    sched::claimed next;
    {
        std::lock_guard guard(lock_);
        next = sched::claim_first(waiters_);
        any_.store_rlx(waiters_.empty() ? 0 : 1); // as in add: orders nothing
    }
    sched::end_wait(next);
}

void condition_variable_any::notify_all() noexcept {
    if (any_.load_rlx() == 0) return; // pairs through the user's lock
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    woken.take_all(waiters_);
    any_.store_rlx(0); // as in add: orders nothing
}

} // namespace sennit
