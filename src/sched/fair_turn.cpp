// SPDX-License-Identifier: Apache-2.0
// The fair turn of a worker: once in some picks it looks at all that its usual order would starve.
//
// Which threads run this: the worker's own. What a fair turn takes, how often it comes and what that bounds:
// README.md, "What begins and when". A fair turn comes sooner if the watchdog asks for it (`ask_for_fair_turn`).
//
// State (worker.hpp; all the worker's own, but for `fair_at_`, which the watchdog may make 0)
//   fair_at_             as many picks: the next one is a fair turn
//   fair_period_         picks from one fair turn to the next; mailboxes that one pick may run
//   max_messages_per_batch_  messages that one mailbox may handle in one turn
//   own_first_           the next fair turn looks into the own queue before it looks outside
//   began_oldest_ns_, began_given_ns_, helped_ns_  about when a fair turn last did so
//
// Tested by the explorer's group `fairness`, tests/regress/starvation_test.cpp and liveness_test.cpp.
#include "sched/runtime_core.hpp"
#include "sched/tuning.hpp"
#include "sched/worker.hpp"
#include "sennit/base/company.hpp"
#include "sys/clock.hpp"
#include "sys/mutant.hpp"

#include <algorithm>
#include <utility>

namespace sennit::sched {

bool worker::look_outside() noexcept {
    if (deactivation_requested()) [[unlikely]]
        (void)deactivate();
    begin_fair_turn();
    base::try_become_exclusive(about_now_ns_);
    expire_timers();
    if (!SENNIT_MUTANT("help while there is work")) help_others();
    // Work that comes from outside again and again would starve the own queue else.
    const bool own_first = std::exchange(own_first_, !own_first_) && !SENNIT_MUTANT("outside and here by turns");
    if (own_first && run_fairly()) return true;
    // Contexts that yield in a loop would starve their own forks else, the more so where they do so outside.
    const bool forks_first = std::exchange(took_outside_, false);
    if (forks_first && steal_orphan()) return true;
    // New work that was given away waits for a worker that has none of its own, but not for ever.
    const bool given_first = ticked(began_given_ns_) && !SENNIT_MUTANT("a fair turn begins what was given away");
    if (runnable* outside =
            pop_outside(given_first ? shared_queue::new_work::first : shared_queue::new_work::not_now)) {
        took_outside_ = true;
        run(*outside);
        return true;
    }
    if (!forks_first && steal_orphan()) return true;
    return !own_first && run_fairly();
}

// The next one comes after `tuning::fair_period` picks; after fewer, where so many have taken longer than
// `tuning::fair_turn_ns`: timers and what lies outside would wait for them all. A pick may be a row of mailboxes, which
// becomes shorter with the period, and each may handle a row of messages. That row is what makes messages cheap, so it
// becomes shorter only where even the shortest period is too long.
void worker::begin_fair_turn() noexcept {
    const std::int64_t now = sys::coarse_now_ns();
    const std::int64_t past = now - std::exchange(about_now_ns_, now);
    const auto scaled = [past](unsigned number) noexcept {
        return static_cast<unsigned>(number * tuning::fair_turn_ns / past);
    };
    const bool too_long = past > tuning::fair_turn_ns;
    if (too_long && fair_period_ > tuning::least_fair_period)
        fair_period_ = std::max(tuning::least_fair_period, scaled(fair_period_));
    else if (too_long)
        max_messages_per_batch_ = std::max(1u, scaled(max_messages_per_batch_));
    else if (past == 0 && max_messages_per_batch_ < tuning::messages_per_batch)
        max_messages_per_batch_ = std::min(2 * max_messages_per_batch_, tuning::messages_per_batch);
    else if (past == 0)
        fair_period_ = std::min(2 * fair_period_, tuning::fair_period);
    fair_at_.store_rlx(counted.turns.read() + fair_period_); // orders nothing
}

// A fiber that makes and joins children in a loop would starve all else: it never comes to a pick.
bool worker::look_beside_children() noexcept {
    look_aside_at_ = counted.aside.read() + fair_period_;
    if (sys::coarse_now_ns() == about_now_ns_ && !tuning::simulated) return false;
    if (!SENNIT_MUTANT("a fair turn beside children")) fair_at_.store_rlx(counted.turns.read()); // orders nothing
    return fair_turn();
}

bool worker::run_fairly() noexcept {
    runnable* item = queue_.pop_fairly([this]() noexcept { return ticked(began_oldest_ns_); });
    if (item) run(*item);
    return item != nullptr;
}

// Whether the coarse clock has moved since this was true for `last_ns`.
bool worker::ticked(std::int64_t& last_ns) const noexcept {
    return std::exchange(last_ns, about_now_ns_) != about_now_ns_ || tuning::simulated;
}

// A worker that always has something ready never searches. But what lies behind a stuck worker must not wait until one
// does: at each tick of the coarse clock, a few ms, this worker looks at the queues of the others as well.
void worker::help_others() noexcept {
    if (!steals_ || !ticked(helped_ns_)) return;
    const std::int64_t now = sys::now_ns();
    for (unsigned i = 0, all = runtime_.worker_count_with_spares(); i < all; ++i) {
        worker& other = runtime_.worker_at(i);
        if (&other == this) continue;
        const bool stuck = !seen_[i].gets_on(other.counted.runs(), now);
        if (stuck && ((other.queue_.in_sight() != 0 && rob(other)) || take_offer(other, true))) return;
    }
}

} // namespace sennit::sched
