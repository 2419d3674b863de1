// SPDX-License-Identifier: Apache-2.0
#include "sennit/condition_variable.hpp"

#include "sennit/task/task.hpp"

#include <coroutine>
#include <cstdint>
#include <mutex>

namespace sennit {

// The part of the wait that holds no lock. The task enters the list before the user's lock is
// released, so that every later notification finds it.
class condition_variable_any::notification : public sched::awaitable {
public:
    notification(condition_variable_any& where, std::unique_lock<mutex>& lock,
                 std::int64_t deadline_ns) noexcept
        : self_(where), lock_(lock), deadline_ns_(deadline_ns) {}

    static constexpr bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        const sched::wait_options options{
            .deadline_ns = deadline_ns_, .what = "condition_variable", .on = &self_};
        sched::task_wait::reserve_limit(deadline_ns_);
        condition_variable_any& self = self_;
        std::unique_lock list(self.lock_);
        // Before the unlock: a notifier that takes the user's lock next must see it.
        self.any_.store_rlx(1); // Orders nothing, as in add: the user's lock does.
        // No notification comes before the list's lock is free, and the unlock of a mutex neither
        // blocks nor notifies.
        lock_.unlock();
        if (!sched::task_wait::only_by_source(options)) ++self.to_leave_;
        return sched::task_wait::block(caller, self.waiters_, *list.release(), options);
    }
    // Removes the entry before the user's lock is taken again: the holder of that lock may notify
    // all waiters and destroy the condition variable.
    sched::wake_reason await_resume() const noexcept {
        const sched::wake_reason why = sched::task_wait::end();
        if (why < sched::wake_reason::source) self_.remove(sched::task_wait::entry());
        return why;
    }

private:
    condition_variable_any& self_;
    std::unique_lock<mutex>& lock_;
    const std::int64_t deadline_ns_;
};

task<cv_status> condition_variable_any::async_wait_before(std::unique_lock<mutex>& lock,
                                                          std::int64_t deadline_ns) {
    mutex& held = *lock.mutex();
    const sched::wake_reason why = co_await notification(*this, lock, deadline_ns);
    co_await held.async_lock();
    lock = std::unique_lock(held, std::adopt_lock);
    if (why == sched::wake_reason::cancelled) throw cancelled();
    co_return why == sched::wake_reason::timed_out ? cv_status::timeout : cv_status::no_timeout;
}

task<void> condition_variable_any::async_wait(std::unique_lock<mutex>& lock) {
    (void)co_await async_wait_before(lock, sched::never);
}

task<void> condition_variable::async_wait(std::unique_lock<mutex>& lock) {
    return condition_variable_any::async_wait(checked(lock));
}

} // namespace sennit
