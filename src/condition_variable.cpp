// SPDX-License-Identifier: Apache-2.0
#include "sennit/condition_variable.hpp"

#include "sennit/base/check.hpp"

#include <mutex>

namespace sennit {

condition_variable_any::~condition_variable_any() {
    SENNIT_CHECK(waiters_.empty(), "a condition variable is destroyed while somebody waits for it");
}

void condition_variable_any::add(sched::wait_entry& entry) noexcept {
    std::lock_guard guard(lock_);
    sched::enqueue(waiters_, entry);
    any_.store(1);
}

// One that was notified is not in the list, and the object may be gone.
void condition_variable_any::remove(sched::wait_entry& entry) noexcept {
    if (entry.point.reason() >= sched::wake_reason::source) return;
    std::lock_guard guard(lock_);
    sched::dequeue(waiters_, entry);
    any_.store(waiters_.empty() ? 0 : 1);
}

// Who waits has entered the list before it gave the user's lock back. So one that changed the condition under that lock
// sees it in `any_`.
void condition_variable_any::notify_one() noexcept {
    if (any_.load() == 0) return;
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    woken.take_first(waiters_);
    any_.store(waiters_.empty() ? 0 : 1);
}

void condition_variable_any::notify_all() noexcept {
    if (any_.load() == 0) return;
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    woken.take_all(waiters_);
    any_.store(0);
}

} // namespace sennit
