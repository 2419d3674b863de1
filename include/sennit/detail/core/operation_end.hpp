// SPDX-License-Identifier: Apache-2.0
// operation_end: the end of one asynchronous operation of another library, such as Asio or an
// implementation of std::execution, for the fiber, thread or task that waits for it.
//
// It counts the parts of the operation that may still touch the waiter's frame: the completion
// handler, and a request of cancellation that is on its way. The wait ends when no part is left.
//
// Which threads run this: the waiter; any thread that drops a part.
// A drop releases the lock as its last access, or wakes a waiter that sleeps until then. So the
// waiter may destroy the object when its wait has returned.
#pragma once

#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <coroutine>
#include <cstdint>
#include <mutex>

namespace sennit::sched {

class operation_end {
    struct awaited {
        operation_end* self;
        bool cancellable;

        bool ready_or_lock() const noexcept {
            self->lock_.lock();
            if (self->parts_ != 0) return false;
            self->lock_.unlock();
            return true;
        }
        [[gnu::noinline]] std::coroutine_handle<> suspend(std::coroutine_handle<> at,
                                                          std::int64_t deadline_ns) const {
            return task_wait::block(at, self->waiters_, self->lock_,
                                    self->options(cancellable, deadline_ns));
        }
        [[gnu::noinline]] bool end_suspension() const noexcept {
            return task_wait::unblock(self->waiters_, self->lock_) != wake_reason::cancelled;
        }
    };

public:
    // The completion handler is the first part. Reports print `what`, a literal.
    explicit operation_end(const char* what) noexcept : what_(what) {}
    operation_end(const operation_end&) = delete;

    void add_part() noexcept {
        std::lock_guard guard(lock_);
        ++parts_;
    }
    void drop_part() noexcept {
        wake_ups woken; // Wakes after the lock is released.
        std::lock_guard guard(lock_);
        if (--parts_ == 0) woken.take_all(waiters_);
    }

    // Blocks until no part is left. False: a cancelled scope has ended the wait, which only happens
    // if `cancellable` is true.
    bool wait(bool cancellable) noexcept {
        lock_.lock();
        if (parts_ == 0) {
            lock_.unlock();
            return true;
        }
        return block(waiters_, lock_, options(cancellable, never)) != wake_reason::cancelled;
    }

    // Like wait, for a task.
    class awaiter : public list_wait<awaited> {
    public:
        using list_wait<awaited>::list_wait;
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
            return this->suspend_until(caller, never);
        }
        bool await_resume() { return this->end(); }
    };
    awaiter async_wait(bool cancellable) noexcept { return awaiter(awaited{this, cancellable}); }

private:
    wait_options options(bool cancellable, std::int64_t deadline_ns) const noexcept {
        return {.deadline_ns = deadline_ns, .cancellable = cancellable, .what = what_, .on = this};
    }

    const char* const what_;
    base::spin_lock lock_; // Guards the members below.
    unsigned parts_ = 1;
    wait_list waiters_;
};

} // namespace sennit::sched
