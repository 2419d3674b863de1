// SPDX-License-Identifier: Apache-2.0
#include "sennit/task/once.hpp"

namespace sennit::detail {

bool once_turn::ready_or_lock() const noexcept {
    flag_->lock_.lock();
    if (flag_->state_.load_rlx() == once_flag::running) return false; // Written under the lock.
    flag_->lock_.unlock();
    return true;
}

std::coroutine_handle<> once_turn::suspend(std::coroutine_handle<> at,
                                           std::int64_t deadline_ns) const {
    return sched::task_wait::block(
        at, flag_->waiters_, flag_->lock_,
        {.deadline_ns = deadline_ns, .cancellable = false, .what = "call_once", .on = flag_});
}

bool once_turn::end_suspension() const noexcept {
    (void)sched::task_wait::unblock(flag_->waiters_, flag_->lock_);
    return true;
}

} // namespace sennit::detail
