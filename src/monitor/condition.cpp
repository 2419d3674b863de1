// SPDX-License-Identifier: Apache-2.0
#include "sennit/monitor/condition.hpp"

#include "monitor/passing.hpp"
#include "monitor/wait_behind.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/base/return_thunk.hpp"

namespace sennit {

// In the frame of one that waits. What is missing: its monitors, and one for its sleep.
//
// One whose wait ends by a signal alone leaves its monitors first and sleeps then (leave_and_wait).
// Others leave when they are saved, in what the wait publishes; the claim decides.
struct condition::waiting : base::list_node {
    waiting(std::uintptr_t who, sched::wait_point& point, std::size_t monitors,
            std::uintptr_t told) noexcept
        : self(who, point, static_cast<std::uint32_t>(monitors) + 1), sole(point.sole), data(told) {
    }
    detail::entrant self;
    const bool sole;
    bool queued; // of one that is not sole
    const std::uintptr_t data;
    detail::queue_nodes places;
};

condition::~condition() {
    SENNIT_CHECK(
        all_.empty(),
        "[SNT-401] a monitor's condition was destroyed while a fiber or thread waits on it; let "
        "every waiter return before");
}

inline void condition::check_inside(std::uintptr_t me, const char* what) const {
    if (!detail::monitor_ops::owned(of_, me)) base::fail(what, __FILE__, __LINE__);
}

// Leaves the monitors and waits for what is missing of `self`: all of them, and one for a sleep
// that is to begin. As long as somebody who gets one is not told of it, nobody can have them all,
// which is what makes us go on. After that the condition need not be there.
[[gnu::always_inline]] inline void condition::leave_and_wait(detail::entrant& self,
                                                             sched::strand& own) noexcept {
    std::size_t i = of_.size() - 1;
    detail::pending_wakeup passed_on(of_[i].leave_and_transfer(self.identity));
    while (i-- > 0) passed_on.add(of_[i].leave_and_transfer(self.identity));
    const auto missing = static_cast<std::uint32_t>(of_.size());
    detail::entrant* next = passed_on.of;
    if (next && next->has_all_with(passed_on.count)) {
        self.missing.store_rlx(missing); // orders nothing: nobody else counts before `next` goes on
        self.wait_behind(*next, own, "condition", this);
    } else {
        self.wait_rest("condition", this);
    }
}

SENNIT_RETURN_VIA_THUNK bool condition::wait_until_ns(std::int64_t deadline_ns,
                                                      std::uintptr_t data) {
    sched::strand* const running = sched::current_strand(); // looked up once
    const auto me =
        reinterpret_cast<std::uintptr_t>(sched::identity_of(running)); // SAFETY: as self_identity
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
    // What leaves the monitors when we are saved. From the last one on, neither we nor the
    // condition need be there.
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

// The oldest whose wait has not ended otherwise; off the list. What it sleeps for from now on are
// its monitors.
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

// Whose wait has not ended otherwise, so far; null: nobody. Those that have wait for their
// monitors.
condition::waiting* condition::oldest() const noexcept {
    waiting* one = all_.front();
    while (one && !one->sole && one->self.point->reason() >= sched::wake_reason::timed_out)
        one = all_.after(*one);
    return one;
}

void condition::queue_urgent(waiting& to) noexcept {
    std::size_t i = 0; // there is one at least
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
    while (waiting* found = newest_first.pop_front())
        queue_urgent(*found); // each before the one that came after it
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
