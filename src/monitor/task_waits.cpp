// SPDX-License-Identifier: Apache-2.0
#include "monitor/task_waits.hpp"

#include "monitor/condition_waiting.hpp"
#include "monitor/passing.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/monitor.hpp"
#include "sennit/monitor/async_wait.hpp"
#include "sennit/task.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace sennit::detail {

// Leaves its monitors once the task has noted where it continues. The monitors are a copy: from the
// last one on, the condition may be gone.
struct monitors_to_leave {
    const monitor_set all;
    const std::uintptr_t me;
};
static void leave_monitors(void* what) noexcept {
    const auto& left = *static_cast<monitors_to_leave*>(what);
    monitor_ops::leave(left.all, left.me);
}

bool rest_awaiter::await_suspend(std::coroutine_handle<> caller) noexcept {
    waits_ = true; // Before the count, which publishes the wait.
    entrant& self = self_;
    self.point =
        &sched::task_wait::begin_counted(caller, {.cancellable = false, .what = what_, .on = on_});
    // The last action: the task may continue on another worker, and end there. Pairs with grant.
    return base::elidable(self.missing).fetch_sub_acq_rel(1) != 1;
}

std::coroutine_handle<> limited_awaiter::await_suspend(std::coroutine_handle<> caller) noexcept {
    return sched::task_wait::begin(caller, point_, publish_, argument_, options_);
}

bool set_entry_awaiter::await_suspend(std::coroutine_handle<> caller) noexcept {
    sched::wait_point none; // Until the task enters the queue.
    entrant& mine = mine_.emplace(me_, none, 1u);
    mine.member = member_;
    mine.wanted = &wanted_;
    mine.accepted = false;
    waits_ = true; // Before the wait is published.
    if (monitor_ops::suspend_to_enter(one_, mine, place_, caller)) return true;
    waits_ = false;
    admitted_ = true;
    return false;
}

task<unsigned> monitor_ops::async_enter_from(monitor* const* all, std::size_t count, std::size_t at,
                                             std::uintptr_t me, member_key member) {
    const monitor_set wanted(all, member && at == 0 ? count : 0); // For an acceptor of the call.
    unsigned fresh = 0;
    for (std::size_t i = at; i < count; ++i) {
        if (all[i]->owned_by(me)) continue;
        const bool first = i == 0; // As in enter_from.
        const bool everything =
            co_await set_entry_awaiter(*all[i], wanted, me, first ? member : nullptr);
        if (everything) {
            for (std::size_t k = 0; k < count; ++k) // But counts equal monitors once.
                if (k == 0 || all[k] != all[k - 1]) fresh |= 1u << k;
            co_return fresh;
        }
        fresh |= 1u << i;
        // The monitors after it are usually free.
        for (; i + 1 < count && all[i + 1]->enter_now(me); ++i) fresh |= 2u << i;
    }
    co_return fresh;
}

task<void> monitor_ops::async_reenter(const monitor_set& all, std::uintptr_t me) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].enter_now(me)) continue;
        monitor_set rest;
        for (std::size_t k = i; k < all.size(); ++k) rest.add(all[k]);
        (void)all[i].returning_.fetch_add(1);
        const bool everything = co_await set_entry_awaiter(all[i], rest, me, &key_of_return);
        (void)all[i].returning_.fetch_sub(1);
        if (everything) co_return;
    }
}

static void publish_request(void* self) noexcept {
    static_cast<accept_request*>(self)->publish();
}

task<std::size_t> async_run_waitfor(std::span<const accept_clause* const> clauses) {
    const std::uintptr_t me = self_identity();
    const accept_request::plan plan = accept_request::plan_of(clauses, me);
    if (plan.all.size() == 0 && plan.late == clauses.size())
        co_return plan.otherwise == clauses.size() ? no_clause : plan.otherwise;
    const std::int64_t deadline_ns =
        plan.late == clauses.size() ? sched::never : clauses[plan.late]->deadline_ns;
    for (;;) {
        // A task that returns from a wait goes before the caller, as often as that happens.
        accept_request::found first{clauses.size(), nullptr};
        if (plan.all.size() != 0 && accept_request::returning_to(plan.all))
            first = accept_request::find_returning(plan.all, clauses.size(), nullptr);
        if (!first.arrival) first = accept_request::find_arrived(clauses);
        if (first.arrival) {
            const bool returns = first.clause == clauses.size();
            if (!returns && clauses[first.clause]->member == &key_of_destructor)
                co_return first.clause;
            sched::wait_point none(true); // Until the task suspends.
            accept_request mine(clauses, me, none);
            mine.begin_arrival(*first.arrival);
            co_await rest_awaiter(mine.self, "waitfor", nullptr);
            if (returns) continue;
            co_return first.clause;
        }
        if (plan.otherwise != clauses.size()) co_return plan.otherwise;
        sched::task_wait::reserve_limit(deadline_ns);
        sched::wait_point point;
        accept_request mine(clauses, me, point);
        mine.all = plan.all;
        const sched::wait_options options{.deadline_ns = deadline_ns, .what = "waitfor"};
        const sched::wake_reason why =
            co_await limited_awaiter(point, &publish_request, &mine, options);
        if (why < sched::wake_reason::source) {
            mine.withdraw();
            if (why == sched::wake_reason::cancelled) throw cancelled();
            co_return plan.late;
        }
        co_await rest_awaiter(mine.self, "waitfor", nullptr);
        const std::size_t chosen = static_cast<std::uint32_t>(why) -
                                   static_cast<std::uint32_t>(sched::wake_reason::source);
        if (chosen != clauses.size()) co_return chosen;
    }
}

} // namespace sennit::detail

namespace sennit {

task<void> condition::async_wait(std::uintptr_t data) {
    (void)co_await async_wait_until_ns(sched::never, data);
}

task<bool> condition::async_wait_until_ns(std::int64_t deadline_ns, std::uintptr_t data) {
    const std::uintptr_t me = detail::self_identity();
    check_inside(me, "[SNT-402] condition::wait was called outside of the condition's monitors; "
                     "enter all of them first");
    const sched::wait_options options{.deadline_ns = deadline_ns, .what = "condition", .on = this};
    sched::wait_point point(sched::task_wait::only_by_source(options));
    task<void> back; // Made before the wait, because the way back must not fail.
    if (!point.sole) {
        sched::task_wait::reserve_limit(deadline_ns);
        back = detail::monitor_ops::async_reenter(of_, me);
    }
    waiting mine(me, point, of_.size(), data);
    all_.push_back(mine);
    if (point.sole) {
        // `missing` keeps the task's own count meanwhile, so it continues below and not elsewhere.
        detail::monitor_ops::leave(of_, me);
        co_await detail::rest_awaiter(mine.self, "condition", this);
        co_return true;
    }
    mine.queued = true;
    detail::monitors_to_leave left{of_, me};
    const sched::wake_reason why =
        co_await detail::limited_awaiter(point, &detail::leave_monitors, &left, options);
    if (why == sched::wake_reason::source) {
        co_await detail::rest_awaiter(mine.self, "condition", this);
        co_return true;
    }
    co_await std::move(back);
    if (mine.queued) all_.remove(mine);
    if (why == sched::wake_reason::cancelled) throw cancelled();
    co_return false;
}

task<bool> condition::async_signal_block() {
    const std::uintptr_t me = detail::self_identity();
    check_inside(me, "[SNT-403] a condition was signalled outside of its monitors; enter all of "
                     "them first");
    waiting* found = take();
    if (!found) co_return false;
    sched::wait_point none(true); // Until the task suspends.
    detail::entrant self(me, none, static_cast<std::uint32_t>(of_.size()) + 1);
    detail::queue_nodes places;
    for (std::size_t i = 0; i < of_.size(); ++i) {
        places.of[i].whose = &self;
        of_[i].push_urgent_behind(places.of[i], found->self.identity);
    }
    found->self.grant(static_cast<std::uint32_t>(of_.size()));
    co_await detail::rest_awaiter(self, "signal_block", this);
    co_return true;
}

} // namespace sennit
