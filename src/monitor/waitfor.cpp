// SPDX-License-Identifier: Apache-2.0
#include "sennit/monitor/waitfor.hpp"

#include "monitor/accept_request.hpp"
#include "monitor/passing.hpp"
#include "monitor/wait_behind.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/base/return_thunk.hpp"
#include "sennit/monitor.hpp"

#include <algorithm>
#include <mutex>

namespace sennit::detail {

namespace {

constexpr auto first_source = static_cast<std::uint32_t>(sched::wake_reason::source);

bool counts(const accept_clause& one) noexcept {
    return one.enabled && one.what == accept_clause::kind::call;
}

} // namespace

bool accept_request::claimed(std::size_t clause) noexcept {
    const auto why =
        static_cast<sched::wake_reason>(first_source + static_cast<std::uint32_t>(clause));
    const sched::claim_result result = sched::claim(begun_at_, why);
    // Writes nothing: `asleep_` belongs to the winner.
    if (result == sched::claim_result::lost) return false;
    asleep_ = begun_at_.sole || result == sched::claim_result::wake_it;
    return true;
}

accept_request* accept_request::claim_by(const entrant& arrival) noexcept {
    if (arrival.member == &key_of_return)
        return arrival.wanted->within(all) && claimed(clauses.size()) ? this : nullptr;
    for (std::size_t i = 0; i < clauses.size(); ++i)
        if (counts(*clauses[i]) && clauses[i]->member == arrival.member &&
            clauses[i]->of == *arrival.wanted)
            return claimed(i) ? this : nullptr;
    return nullptr;
}

void accept_request::withdraw() noexcept {
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::lock_guard guard(all[i].lock_);
        all[i].accepting_ = nullptr;
    }
}

void accept_request::owe(std::size_t monitors) noexcept {
    const std::uint32_t counted = begun_at_.sole ? 0 : asleep_ ? 2 : 1;
    // The sum may wrap around, and back.
    (void)self.missing.fetch_add(static_cast<std::uint32_t>(monitors) - counted);
}

// Queues the acceptor behind `next`, which then owns the monitors `of`, until `next` has left them.
[[gnu::always_inline]] inline void accept_request::give_places(std::uintptr_t next,
                                                               const monitor_set& of) noexcept {
    for (std::size_t i = 0; i < of.size(); ++i) {
        places.of[i].whose = &self;
        of[i].push_urgent_behind(places.of[i], next);
    }
}

void accept_request::admit(const entrant& arrival) noexcept {
    withdraw();
    owe(arrival.wanted->size());
    give_places(arrival.identity, *arrival.wanted);
}

[[gnu::always_inline]] inline void accept_request::accept(entrant& arrival) noexcept {
    arrival.accepted = true;
    give_places(arrival.identity, *arrival.wanted);
}

void accept_request::make_way(entrant& arrival) noexcept {
    owe(arrival.wanted->size());
    accept(arrival);
    arrival.grant(1);
}

[[gnu::always_inline]] inline void accept_request::wait_for(entrant& arrival,
                                                            sched::strand& own) noexcept {
    // Orders nothing: no other task knows of it yet.
    self.missing.store_rlx(static_cast<std::uint32_t>(arrival.wanted->size()));
    accept(arrival);
    // The arriving task waited for nothing else.
    if (arrival.has_all_with(1)) self.wait_behind(arrival, own, "waitfor", nullptr);
}

void accept_request::begin_arrival(entrant& arrival) noexcept {
    // Orders nothing: no other task knows of it yet.
    self.missing.store_rlx(static_cast<std::uint32_t>(arrival.wanted->size()) + 1);
    accept(arrival);
    arrival.grant(1);
}

// Nothing is owed: the acceptor has all its monitors.
void accept_request::resume_acceptor() noexcept {
    withdraw();
    if (!asleep_) return self.grant(1); // the acceptor waits for the rest, perhaps already
    self.missing.store_rlx(0);          // orders nothing: the wake-up does
    sched::wake(begun_at_);
}

[[gnu::always_inline]] inline accept_request::found
accept_request::find(clause_list clauses, accept_request* for_whom) noexcept {
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        if (!counts(*clauses[i])) continue;
        monitor& first = clauses[i]->of[0];
        std::unique_lock guard(first.lock_, std::defer_lock);
        if (!for_whom) guard.lock();
        for (queue_node* each = first.waiting_.front(); each; each = first.waiting_.after(*each)) {
            entrant& arrival = *each->whose;
            if (arrival.member != clauses[i]->member || !(*arrival.wanted == clauses[i]->of))
                continue;
            if (for_whom && !for_whom->claimed(i)) return {i, nullptr};
            // A destructor stays in the queue, and notifies the acceptor once.
            if (arrival.member == &key_of_destructor)
                arrival.member = nullptr;
            else
                first.waiting_.remove(*each);
            return {i, &arrival};
        }
    }
    return {clauses.size(), nullptr};
}

accept_request::found accept_request::find_arrived(clause_list clauses) noexcept {
    return find(clauses, nullptr);
}

accept_request::found accept_request::find_returning(const monitor_set& all, std::size_t clause,
                                                     accept_request* for_whom) noexcept {
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::unique_lock guard(all[i].lock_, std::defer_lock);
        if (!for_whom) guard.lock();
        for (queue_node* each = all[i].waiting_.front(); each;
             each = all[i].waiting_.after(*each)) {
            entrant& arrival = *each->whose;
            if (arrival.member != &key_of_return || !arrival.wanted->within(all)) continue;
            if (for_whom && !for_whom->claimed(clause)) return {clause, nullptr};
            all[i].waiting_.remove(*each);
            return {clause, &arrival};
        }
    }
    return {clause, nullptr};
}

void accept_request::publish() noexcept {
    // The acceptor may be gone when the loop ends.
    const monitor_set mine = all;
    const clause_list given = clauses; // the acceptor may be gone
    // Takes the locks in the order of their addresses; no other task holds two.
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i].lock_.lock();
    found ready = find_returning(mine, given.size(), this);
    const bool returns = ready.arrival != nullptr;
    if (!returns) ready = find(clauses, this);
    if (!ready.arrival)
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i].accepting_ = this;
    for (std::size_t i = mine.size(); i-- > 0;) mine[i].lock_.unlock();
    if (!ready.arrival) return;
    if (!returns && given[ready.clause]->member == &key_of_destructor)
        resume_acceptor();
    else
        make_way(*ready.arrival);
}

namespace {

// Lets the call that already waits run first; returns when it has left.
[[gnu::always_inline]] inline void run_arrival_first(accept_request::clause_list clauses,
                                                     entrant& arrival, std::uintptr_t me,
                                                     sched::strand& own) noexcept {
    sched::wait_point point(true);
    accept_request(clauses, me, point).wait_for(arrival, own);
}

monitor_set all_of(accept_request::clause_list clauses) noexcept {
    monitor_set all;
    for (const accept_clause* one : clauses)
        for (std::size_t i = 0; counts(*one) && i < one->of.size(); ++i) all.add(one->of[i]);
    return all;
}

// Blocks until there is a call. A task that returns from a wait goes before the caller, as often as
// that happens. `otherwise` and `late` are the numbers of those clauses, or clauses.size() if there
// are none.
[[gnu::noinline]] SENNIT_RETURN_VIA_THUNK std::size_t
wait_for_calls(accept_request::clause_list clauses, std::uintptr_t me, sched::strand& own,
               std::size_t otherwise, std::size_t late) {
    const monitor_set all = all_of(clauses);
    if (all.size() == 0 && late == clauses.size())
        return otherwise == clauses.size() ? no_clause : otherwise;
    const std::int64_t deadline_ns =
        late == clauses.size() ? sched::never : clauses[late]->deadline_ns;
    for (;;) {
        while (all.size() != 0 && accept_request::returning_to(all)) {
            const accept_request::found one =
                accept_request::find_returning(all, clauses.size(), nullptr);
            if (!one.arrival) break;
            run_arrival_first(clauses, *one.arrival, me, own);
        }
        if (otherwise != clauses.size()) {
            const accept_request::found ready = accept_request::find(clauses, nullptr);
            if (!ready.arrival) return otherwise;
            if (clauses[ready.clause]->member != &key_of_destructor)
                run_arrival_first(clauses, *ready.arrival, me, own);
            return ready.clause;
        }
        sched::wait_point point(deadline_ns == sched::never && !own.scope);
        accept_request mine(clauses, me, point);
        mine.all = all;
        const sched::wake_reason why = sched::wait(
            point, [](void* self) noexcept { static_cast<accept_request*>(self)->publish(); },
            &mine, {.deadline_ns = deadline_ns, .what = "waitfor"});
        if (why < sched::wake_reason::source) {
            mine.withdraw();
            if (why == sched::wake_reason::cancelled) throw cancelled();
            return late;
        }
        if (!point.sole) mine.self.wait_rest("waitfor", nullptr);
        const std::size_t chosen = static_cast<std::uint32_t>(why) - first_source;
        if (chosen != clauses.size()) return chosen;
    }
}

struct examined {
    std::size_t otherwise, late; // The numbers of these clauses, or clauses.size().
    bool task_returns;
};
[[gnu::always_inline]] inline examined examine(accept_request::clause_list clauses,
                                               std::uintptr_t me) noexcept {
    examined found{clauses.size(), clauses.size(), false};
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        const accept_clause& one = *clauses[i];
        if (!one.enabled) continue;
        if (one.what == accept_clause::kind::otherwise) {
            found.otherwise = std::min(found.otherwise, i);
        } else if (one.what == accept_clause::kind::timeout) {
            if (found.late == clauses.size() || one.deadline_ns < clauses[found.late]->deadline_ns)
                found.late = i;
        } else {
            SENNIT_CHECK(monitor_ops::owned(one.of, me),
                         "[SNT-408] waitfor names a monitor that the caller has not entered; enter "
                         "it first");
            found.task_returns |= accept_request::returning_to(one.of);
        }
    }
    return found;
}

} // namespace

accept_request::plan accept_request::plan_of(clause_list clauses, std::uintptr_t me) noexcept {
    const examined found = examine(clauses, me);
    return {all_of(clauses), found.otherwise, found.late};
}

SENNIT_RETURN_VIA_THUNK std::size_t run_waitfor(std::span<const accept_clause* const> clauses) {
    sched::strand* const running = sched::current_strand(); // looked up once
    // SAFETY: as self_identity.
    const auto me = reinterpret_cast<std::uintptr_t>(sched::identity_of(running));
    sched::strand& own = sched::strand_or_thread(running);
    const auto [otherwise, late, task_returns] = examine(clauses, me);
    if (!task_returns) [[likely]] {
        if (const accept_request::found ready = accept_request::find(clauses, nullptr);
            ready.arrival) {
            if (clauses[ready.clause]->member != &key_of_destructor)
                run_arrival_first(clauses, *ready.arrival, me, own);
            return ready.clause;
        }
        if (otherwise != clauses.size()) return otherwise;
    }
    return wait_for_calls(clauses, me, own, otherwise, late);
}

} // namespace sennit::detail
