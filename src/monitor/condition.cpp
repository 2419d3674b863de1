// SPDX-License-Identifier: Apache-2.0
#include "sennit/monitor/condition.hpp"

#include "monitor/condition_waiting.hpp"
#include "monitor/passing.hpp"
#include "monitor/wait_behind.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/base/return_thunk.hpp"

namespace sennit {

condition::~condition() {
    SENNIT_CHECK(all_.empty(), "[SNT-401] a monitor's condition was destroyed while a fiber or "
                               "thread waits on it; let every waiter return before");
}

// Leaves the monitors and waits for everything that `self` lacks: all of them, and one for a sleep
// that is to begin. As long as an owner that gets one of the monitors is not woken, no task can
// have all of them, and only a task that has all of them makes this task continue. After that the
// condition may be gone.
[[gnu::always_inline]] inline void condition::leave_and_wait(detail::entrant& self,
                                                             sched::strand& own) noexcept {
    std::size_t i = of_.size() - 1;
    detail::pending_wakeup passed_on(of_[i].leave_and_transfer(self.identity));
    while (i-- > 0) passed_on.add(of_[i].leave_and_transfer(self.identity));
    const auto missing = static_cast<std::uint32_t>(of_.size());
    detail::entrant* next = passed_on.of;
    if (next && next->has_all_with(passed_on.count)) {
        // Orders nothing: no other task counts before `next` runs.
        self.missing.store_rlx(missing);
        self.wait_behind(*next, own, "condition", this);
    } else {
        self.wait_rest("condition", this);
    }
}

SENNIT_RETURN_VIA_THUNK bool condition::wait_until_ns(std::int64_t deadline_ns,
                                                      std::uintptr_t data) {
    sched::strand* const running = sched::current_strand(); // looked up once
    // SAFETY: as self_identity.
    const auto me = reinterpret_cast<std::uintptr_t>(sched::identity_of(running));
    check_inside(me, "[SNT-402] condition::wait was called outside of the condition's monitors; "
                     "enter all of them first");
    sched::strand& own = sched::strand_or_thread(running);
    sched::wait_point point(deadline_ns == sched::never && !own.scope);
    waiting mine(me, point, of_.size(), data);
    all_.push_back(mine);
    if (point.sole) {
        leave_and_wait(mine.self, own);
        return true;
    }
    mine.queued = true;
    // The data for leaving the monitors once the waiter is saved. From the last monitor on, the
    // waiter and the condition may be gone.
    struct leaving {
        const detail::monitor_set* all;
        std::uintptr_t me;
    } act{&of_, me};
    const sched::wake_reason why =
        sched::wait(point,
                    [](void* argument) noexcept {
                        const leaving what = *static_cast<leaving*>(argument);
                        const detail::monitor_set all = *what.all;
                        detail::monitor_ops::leave(all, what.me);
                    },
                    &act, {.deadline_ns = deadline_ns, .what = "condition", .on = this});
    if (why == sched::wake_reason::source) {
        mine.self.wait_rest("condition", this);
        return true;
    }
    detail::monitor_ops::reenter(of_, me);
    if (mine.queued) all_.remove(mine);
    if (why == sched::wake_reason::cancelled) throw cancelled();
    return false;
}

// Takes the oldest waiter off the list whose wait has not ended for another reason. From now on it
// sleeps until it has its monitors.
condition::waiting* condition::take() noexcept {
    while (waiting* found = all_.pop_front()) {
        if (found->sole) return found;
        found->queued = false;
        switch (sched::claim(*found->self.point, sched::wake_reason::source)) {
        case sched::claim_result::lost:
            continue;
        case sched::claim_result::wake_it:
            (void)found->self.missing.fetch_sub(1);
            return found;
        case sched::claim_result::leave_it:
            return found;
        }
    }
    return nullptr;
}

// Returns the oldest waiter whose wait has not ended for another reason so far; null: there is
// none. Waiters whose wait has ended wait for their monitors.
condition::waiting* condition::oldest() const noexcept {
    waiting* one = all_.front();
    while (one && !one->sole && one->self.point->reason() >= sched::wake_reason::timed_out)
        one = all_.after(*one);
    return one;
}

void condition::queue_urgent(waiting& to) noexcept {
    std::size_t i = 0; // a set has at least one element
    do {
        to.places.of[i].whose = &to.self;
        of_[i].urgent_.push_front(to.places.of[i]);
    } while (++i < of_.size());
}

bool condition::signal() {
    check_inside(
        detail::self_identity(),
        "[SNT-403] a condition was signalled outside of its monitors; enter all of them first");
    waiting* found = take();
    if (found) queue_urgent(*found);
    return found != nullptr;
}

void condition::signal_all() {
    check_inside(
        detail::self_identity(),
        "[SNT-403] a condition was signalled outside of its monitors; enter all of them first");
    base::intrusive_queue<waiting> newest_first;
    while (waiting* found = take()) newest_first.push_front(*found);
    // Puts each waiter before the waiter that arrived after it.
    while (waiting* found = newest_first.pop_front()) queue_urgent(*found);
}

SENNIT_RETURN_VIA_THUNK bool condition::signal_block() {
    check_inside(
        detail::self_identity(),
        "[SNT-403] a condition was signalled outside of its monitors; enter all of them first");
    waiting* found = take();
    if (!found) return false;
    sched::wait_point point(true);
    detail::entrant self(detail::self_identity(), point,
                         static_cast<std::uint32_t>(of_.size()) + 1);
    detail::queue_nodes places;
    for (std::size_t i = 0; i < of_.size(); ++i) {
        places.of[i].whose = &self;
        of_[i].push_urgent_behind(places.of[i], found->self.identity);
    }
    found->self.grant(static_cast<std::uint32_t>(of_.size()));
    self.wait_rest("signal_block", this);
    return true;
}

bool condition::empty() const {
    check_inside(
        detail::self_identity(),
        "[SNT-404] a condition was inspected outside of its monitors; enter all of them first");
    return !oldest();
}

std::uintptr_t condition::front() const {
    check_inside(
        detail::self_identity(),
        "[SNT-404] a condition was inspected outside of its monitors; enter all of them first");
    const waiting* first = oldest();
    SENNIT_CHECK(
        first,
        "[SNT-405] condition::front was called on a condition without waiters; ask empty() first");
    return first->data;
}

} // namespace sennit
