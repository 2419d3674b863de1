// SPDX-License-Identifier: Apache-2.0
#include "sennit/task/nursery.hpp"

#include "sennit/async_all.hpp"
#include "sennit/cancelled.hpp"

#include <coroutine>
#include <exception>
#include <utility>

namespace sennit {

// Waits until no child is left. Returns the reason for which the wait ended.
class nursery::children_ended : public sched::awaitable {
public:
    children_ended(nursery& of, bool cancellable) noexcept
        : family_(of), cancellable_(cancellable) {}

    bool await_ready() noexcept {
        family_.lock_.lock();
        if (family_.children_ != 0) return !(waits_ = true);
        family_.lock_.unlock();
        return true;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return sched::task_wait::block(
            caller, family_.joiner_, family_.lock_,
            {.cancellable = cancellable_, .what = "nursery::join", .on = &family_});
    }
    sched::wake_reason await_resume() noexcept {
        return waits_ ? sched::task_wait::unblock(family_.joiner_, family_.lock_)
                      : sched::wake_reason::source;
    }

private:
    nursery& family_;
    const bool cancellable_;
    bool waits_ = false;
};

task<void> nursery::async_join() {
    for (bool disturbed = false;;) {
        const sched::wake_reason why = co_await children_ended(*this, !disturbed);
        if (why != sched::wake_reason::cancelled) break;
        disturbed = true;
        cancel_children();
        cut_short();
    }
    join(); // Blocks no more: no child is left.
}

// An exception `cancelled` that the cancelled nursery has caused is no error. Any other one may be
// user code's own.
void nursery::task_failed(std::exception_ptr error) noexcept {
    if (cancelled() && detail::is_cancelled(error)) return cut_short();
    record(std::move(error));
}

} // namespace sennit
