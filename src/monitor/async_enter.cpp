// SPDX-License-Identifier: Apache-2.0
// The await of a monitor. The entrant lies in the awaiter, which is in the frame of the waiting
// task. The steps are those of monitor::enter_slow, with the wait of a task in place of the wait of
// a context: the task notes where it continues (A1 of task_strand.hpp), enters the queue (A2), and
// releases the lock of the monitor as its last action (A3).
#include "sennit/monitor/async_enter.hpp"
#include "monitor/accept_request.hpp"
#include "sennit/detail/core/task_strand.hpp"

namespace sennit::detail {

bool monitor_ops::enter_or_lock(monitor& one, std::uintptr_t me) noexcept {
    one.lock_.lock();
    std::uintptr_t seen = one.word_.load_rlx(); // a hint: the CAS decides
    for (;;) {
        if (seen == 0) {
            // Pairs with leave_now.
            if (!base::elidable(one.word_).cas_acq(seen, me)) continue;
            one.taken_.store_rlx(1); // a hint
            one.lock_.unlock();
            return true;
        }
        // Orders nothing: this task does not own the monitor yet.
        if ((seen & monitor::has_waiters) != 0 ||
            base::elidable(one.word_).cas_rlx(seen, seen | monitor::has_waiters))
            return false;
    }
}

bool monitor_ops::suspend_to_enter(monitor& one, entrant& mine, queue_node& place,
                                   std::coroutine_handle<> at) noexcept {
    accept_request* accepted =
        mine.member && one.accepting_ ? one.accepting_->claim_by(mine) : nullptr;
    if (accepted) {
        one.lock_.unlock();
        accepted->admit(mine);
        return false;
    }
    mine.point = &sched::task_wait::begin_counted(
        at, {.cancellable = false, .what = "monitor", .on = &one, .holder = &monitor::holder});
    place.whose = &mine;
    one.waiting_.push_back(place);
    // The last action: the owner may now wake the task, which may end on another worker.
    one.lock_.unlock();
    return true;
}

bool enter_awaiter::await_suspend(std::coroutine_handle<> caller) noexcept {
    set_ = monitor_set(wanted_);
    sched::wait_point none; // Until the task enters the queue.
    entrant& mine = mine_.emplace(me_, none, 1u);
    mine.member = member_;
    mine.wanted = &set_;
    mine.accepted = false;
    waits_ = true; // Before the wait is published.
    if (monitor_ops::suspend_to_enter(wanted_, mine, place_, caller)) return true;
    waits_ = false;
    return false;
}

} // namespace sennit::detail
