// SPDX-License-Identifier: Apache-2.0
#include "sennit/latch.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"

#include <mutex>

namespace sennit {

latch::~latch() {
    SENNIT_CHECK(waiters_.empty(), "[SNT-216] a latch was destroyed while a fiber or thread waits "
                                   "for it; let every waiter return first");
}

// The waiters are chained before the lock is freed, which is this function's last access to the
// latch. A task that sees the count at zero takes the lock later, and a woken waiter does not touch
// the latch again.
void latch::count_down(std::ptrdiff_t update) noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    SENNIT_CHECK(update >= 0 && update <= left_,
                 "[SNT-217] a latch was counted down below zero; count it down no more often than "
                 "its constructor's count");
    left_ -= update;
    if (left_ != 0) return;
    woken.take_all(waiters_);
}

bool latch::try_wait() const noexcept {
    std::lock_guard guard(lock_);
    return left_ == 0;
}

void latch::wait() const {
    lock_.lock();
    if (left_ == 0) {
        lock_.unlock();
        return;
    }
    if (sched::block(waiters_, lock_, {.what = "latch", .on = this}) ==
        sched::wake_reason::cancelled)
        throw cancelled();
}

bool latch::awaited::ready_or_lock() noexcept {
    self->lock_.lock();
    if (self->left_ != 0) return false;
    self->lock_.unlock();
    return true;
}
std::coroutine_handle<> latch::awaited::suspend(std::coroutine_handle<> at,
                                                std::int64_t deadline_ns) {
    return sched::task_wait::block(at, self->waiters_, self->lock_,
                                   {.deadline_ns = deadline_ns, .what = "latch", .on = self});
}
bool latch::awaited::end_suspension() {
    const sched::wake_reason why = sched::task_wait::unblock(self->waiters_, self->lock_);
    if (why == sched::wake_reason::cancelled) throw cancelled();
    return why != sched::wake_reason::timed_out;
}

} // namespace sennit
