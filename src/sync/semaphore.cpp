// SPDX-License-Identifier: Apache-2.0
#include "sennit/semaphore.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/verbs.hpp"

#include <mutex>
#include <system_error>

namespace sennit::detail {

semaphore_core::~semaphore_core() {
    SENNIT_CHECK(waiters_.empty(), "[SNT-213] a semaphore was destroyed while a fiber or thread "
                                   "waits for it; let every waiter return first");
}

void semaphore_core::release(std::ptrdiff_t count, std::ptrdiff_t most) {
    sched::wake_ups woken;
    lock_.lock(uses_);
    std::lock_guard guard(lock_, std::adopt_lock);
    if (count < 0 || count > most - tokens_)
        throw std::system_error(std::make_error_code(std::errc::value_too_large),
                                "sennit: [SNT-214] semaphore::release: the semaphore would have "
                                "more than max() tokens; release what was acquired, once");
    while (count > 0 && woken.take_first(waiters_)) --count;
    tokens_ += count;
}

bool semaphore_core::try_acquire() noexcept {
    lock_.lock(uses_);
    std::lock_guard guard(lock_, std::adopt_lock);
    if (tokens_ == 0) return false;
    --tokens_;
    return true;
}

bool semaphore_core::acquire_before(std::int64_t deadline_ns) {
    if (!lock_.lock_plainly()) {
        sched::yield_if_requested();
        lock_.lock(uses_);
    }
    if (tokens_ > 0) {
        --tokens_;
        lock_.unlock();
        return true;
    }
    const auto why = sched::block(waiters_, lock_,
                                  {.deadline_ns = deadline_ns, .what = "semaphore", .on = this});
    if (why == sched::wake_reason::cancelled) throw cancelled();
    return why == sched::wake_reason::source;
}

bool semaphore_core::awaited::ready_or_lock() noexcept {
    self->lock_.lock(self->uses_);
    if (self->tokens_ == 0) return false;
    --self->tokens_;
    self->lock_.unlock();
    return true;
}
std::coroutine_handle<> semaphore_core::awaited::suspend(std::coroutine_handle<> at,
                                                         std::int64_t deadline_ns) {
    return sched::task_wait::block(at, self->waiters_, self->lock_,
                                   {.deadline_ns = deadline_ns, .what = "semaphore", .on = self});
}
bool semaphore_core::awaited::end_suspension() {
    const sched::wake_reason why = sched::task_wait::unblock(self->waiters_, self->lock_);
    if (why == sched::wake_reason::cancelled) throw cancelled();
    return why != sched::wake_reason::timed_out;
}

} // namespace sennit::detail
