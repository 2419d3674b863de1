// SPDX-License-Identifier: Apache-2.0
#include "sennit/condition_variable.hpp"

#include "sennit/task/task.hpp"

#include <coroutine>
#include <mutex>

namespace sennit {

// The part of the wait that holds no lock. The task enters the list before the user's lock is
// released, so that every later notification finds it.
class condition_variable_any::notification : public sched::awaitable {
public:
    notification(condition_variable_any& where, std::unique_lock<mutex>& lock) noexcept
        : self_(where), lock_(lock) {}

    static constexpr bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        const sched::wait_options options{.what = "condition_variable", .on = &self_};
        sched::task_wait::reserve_limit(sched::never);
        condition_variable_any& self = self_;
        std::unique_lock list(self.lock_);
        // No notification comes before the list's lock is free, and the unlock of a mutex neither
        // blocks nor notifies.
        lock_.unlock();
        self.any_.store_rlx(1); // orders nothing, as in add
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
};

task<void> condition_variable_any::async_wait(std::unique_lock<mutex>& lock) {
    mutex& held = *lock.mutex();
    const sched::wake_reason why = co_await notification(*this, lock);
    co_await held.async_lock();
    lock = std::unique_lock(held, std::adopt_lock);
    if (why == sched::wake_reason::cancelled) throw cancelled();
}

task<void> condition_variable::async_wait(std::unique_lock<mutex>& lock) {
    return condition_variable_any::async_wait(checked(lock));
}

} // namespace sennit
