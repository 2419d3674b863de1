// SPDX-License-Identifier: Apache-2.0
#include "sennit/once.hpp"

#include "sennit/task/once.hpp"

#include <mutex>

namespace sennit {

bool once_flag::try_begin() noexcept {
    std::lock_guard guard(lock_);
    // The state changes under the lock only.
    if (state_.load_rlx() != fresh) return false;
    state_.store_rlx(running); // The lock orders it.
    return true;
}

bool once_flag::begin() noexcept {
    for (;;) {
        lock_.lock();
        const std::uint32_t state = state_.load_rlx(); // written under the lock
        if (state != running) {
            if (state == fresh) state_.store_rlx(running); // written under the lock
            lock_.unlock();
            return state == fresh;
        }
        (void)sched::block(waiters_, lock_,
                           {.cancellable = false, .what = "call_once", .on = this});
    }
}

void once_flag::end(std::uint32_t how) noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    state_.store_rel(how); // pairs with is_done
    woken.take_all(waiters_);
}

// ---- The await of a task.

bool detail::once_turn::ready_or_lock() const noexcept {
    flag_->lock_.lock();
    if (flag_->state_.load_rlx() == once_flag::running) return false; // Written under the lock.
    flag_->lock_.unlock();
    return true;
}

std::coroutine_handle<> detail::once_turn::suspend(std::coroutine_handle<> at,
                                                   std::int64_t deadline_ns) const {
    return sched::task_wait::block(
        at, flag_->waiters_, flag_->lock_,
        {.deadline_ns = deadline_ns, .cancellable = false, .what = "call_once", .on = flag_});
}

bool detail::once_turn::end_suspension() const noexcept {
    (void)sched::task_wait::unblock(flag_->waiters_, flag_->lock_);
    return true;
}

} // namespace sennit
