// SPDX-License-Identifier: Apache-2.0
#include "sennit/event.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"

#include <mutex>

namespace sennit {

event::~event() {
    SENNIT_CHECK(waiters_.empty(), "[SNT-211] an event was destroyed while a fiber or thread waits "
                                   "for it; let every waiter return first");
}

void event::set() noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    if (mode_ == mode::auto_reset) {
        if (!woken.take_first(waiters_)) set_ = true;
    } else {
        set_ = true;
        woken.take_all(waiters_);
    }
}

void event::reset() noexcept {
    std::lock_guard guard(lock_);
    set_ = false;
}

bool event::try_wait() noexcept {
    std::lock_guard guard(lock_);
    return take_if_set();
}

// Called with the lock held.
bool event::take_if_set() noexcept {
    const bool was = set_;
    if (mode_ == mode::auto_reset) set_ = false;
    return was;
}

bool event::wait_before(std::int64_t deadline_ns) {
    lock_.lock();
    if (take_if_set()) {
        lock_.unlock();
        return true;
    }
    const auto why =
        sched::block(waiters_, lock_, {.deadline_ns = deadline_ns, .what = "event", .on = this});
    if (why == sched::wake_reason::cancelled) throw cancelled();
    return why == sched::wake_reason::source;
}

bool event::awaited::ready_or_lock() noexcept {
    self->lock_.lock();
    if (!self->take_if_set()) return false;
    self->lock_.unlock();
    return true;
}
std::coroutine_handle<> event::awaited::suspend(std::coroutine_handle<> at,
                                                std::int64_t deadline_ns) {
    return sched::task_wait::block(at, self->waiters_, self->lock_,
                                   {.deadline_ns = deadline_ns, .what = "event", .on = self});
}
bool event::awaited::end_suspension() {
    const sched::wake_reason why = sched::task_wait::unblock(self->waiters_, self->lock_);
    if (why == sched::wake_reason::cancelled) throw cancelled();
    return why != sched::wake_reason::timed_out;
}

} // namespace sennit
