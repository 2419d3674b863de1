// SPDX-License-Identifier: Apache-2.0
#include "sennit/barrier.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"

#include <mutex>

namespace sennit::detail {

barrier_core::~barrier_core() {
    SENNIT_CHECK(waiters_.empty(), "[SNT-219] a barrier was destroyed while a fiber or thread "
                                   "waits for it; let every waiter return first");
}

barrier_core::arrival barrier_core::arrive(std::ptrdiff_t count, bool drop) noexcept {
    std::lock_guard guard(lock_);
    SENNIT_CHECK(count > 0, "[SNT-220] barrier::arrive was called with a count below 1; pass the "
                            "number of arrivals, 1 or more");
    SENNIT_CHECK(count <= left_, "[SNT-221] more arrivals at a barrier than it expects in this "
                                 "phase; make it for the number of all participants");
    left_ -= count;
    if (drop) --expected_;
    return {phase_, left_ == 0};
}

// No task can arrive between the last arrival and this function, because the phase expects no
// further arrival.
void barrier_core::complete() noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    ++phase_;
    left_ = expected_;
    woken.take_all(waiters_);
}

void barrier_core::wait(std::uint64_t phase) {
    lock_.lock();
    if (phase_ != phase) {
        lock_.unlock();
        return;
    }
    if (sched::block(waiters_, lock_, {.what = "barrier", .on = this}) ==
        sched::wake_reason::cancelled)
        throw cancelled();
}

bool barrier_core::awaited::ready_or_lock() noexcept {
    self->lock_.lock();
    if (self->phase_ == phase) return false;
    self->lock_.unlock();
    return true;
}
std::coroutine_handle<> barrier_core::awaited::suspend(std::coroutine_handle<> at,
                                                       std::int64_t deadline_ns) {
    return sched::task_wait::block(at, self->waiters_, self->lock_,
                                   {.deadline_ns = deadline_ns, .what = "barrier", .on = self});
}
bool barrier_core::awaited::end_suspension() {
    const sched::wake_reason why = sched::task_wait::unblock(self->waiters_, self->lock_);
    if (why == sched::wake_reason::cancelled) throw cancelled();
    return why != sched::wake_reason::timed_out;
}

} // namespace sennit::detail
