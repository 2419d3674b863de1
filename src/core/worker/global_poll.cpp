// SPDX-License-Identifier: Apache-2.0
// The fair turn of a worker: once in some picks it looks at all that its usual order would starve.
//
// Which threads run this: the worker's own. What a fair turn takes, how often it comes and what
// that bounds: src/core/README.md, "What begins and when". A fair turn comes sooner if the watchdog
// asks for it
// (`request_global_poll`).
//
// State (worker.hpp; all the worker's own, but for `next_global_poll_`, which the watchdog may make
// 0)
//   next_global_poll_             as many picks: the next one is a fair turn
//   global_poll_interval_         picks from one fair turn to the next; mailboxes that one pick may
//   run max_messages_per_batch_  messages that one mailbox may handle in one turn
//   poll_own_queue_first_           the next fair turn looks into the own queue before it looks
//   outside began_oldest_spawned_ns_, began_shared_ns_, helped_ns_  about when a fair turn last did
//   so
//
// Tested by the explorer's group `fairness`, tests/regress/starvation_test.cpp and
// liveness_test.cpp.
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/mutant.hpp"

#include <algorithm>
#include <utility>

namespace sennit::sched {

bool worker::poll_global_sources() noexcept {
    if (deactivation_requested()) [[unlikely]]
        (void)deactivate();
    begin_global_poll();
    base::try_become_exclusive(cached_now_ns_);
    expire_timers();
    if (!SENNIT_MUTANT("help while there is work")) help_others();
    // Work that comes from outside again and again would starve the own queue else.
    const bool own_first = std::exchange(poll_own_queue_first_, !poll_own_queue_first_) &&
                           !SENNIT_MUTANT("outside and here by turns");
    if (own_first && run_alternating()) return true;
    // Contexts that yield in a loop would starve their own forks else, the more so where they do so
    // outside.
    const bool forks_first = std::exchange(last_poll_ran_global_, false);
    if (forks_first && steal_fork_from_suspended()) return true;
    // New work that was given away waits for a worker that has none of its own, but not for ever.
    const bool shared_first =
        ticked(began_shared_ns_) && !SENNIT_MUTANT("a global poll begins what was shared");
    if (runnable* global = pop_global(shared_first ? shared_queue::new_work::first
                                                   : shared_queue::new_work::not_now)) {
        last_poll_ran_global_ = true;
        run(*global);
        return true;
    }
    if (!forks_first && steal_fork_from_suspended()) return true;
    return !own_first && run_alternating();
}

// The next one comes after `tuning::global_poll_interval` picks; after fewer, where so many have
// taken longer than `tuning::global_poll_target_ns`: timers and what lies outside would wait for
// them all. A pick may be a row of mailboxes, which becomes shorter with the period, and each may
// handle a row of messages. That row is what makes messages cheap, so it becomes shorter only where
// even the shortest period is too long.
void worker::begin_global_poll() noexcept {
    const std::int64_t now = sys::coarse_now_ns();
    const std::int64_t past = now - std::exchange(cached_now_ns_, now);
    const auto scaled = [past](unsigned number) noexcept {
        return static_cast<unsigned>(number * tuning::global_poll_target_ns / past);
    };
    const bool too_long = past > tuning::global_poll_target_ns;
    if (too_long && global_poll_interval_ > tuning::min_global_poll_interval)
        global_poll_interval_ =
            std::max(tuning::min_global_poll_interval, scaled(global_poll_interval_));
    else if (too_long)
        max_messages_per_batch_ = std::max(1u, scaled(max_messages_per_batch_));
    else if (past == 0 && max_messages_per_batch_ < tuning::messages_per_batch)
        max_messages_per_batch_ = std::min(2 * max_messages_per_batch_, tuning::messages_per_batch);
    else if (past == 0)
        global_poll_interval_ = std::min(2 * global_poll_interval_, tuning::global_poll_interval);
    next_global_poll_.store_rlx(counted.tasks_picked.read() +
                                global_poll_interval_); // orders nothing
}

// A fiber that makes and joins children in a loop would starve all else: it never comes to a pick.
bool worker::check_clock_beside_children() noexcept {
    next_check_beside_children_ = counted.inline_runs.read() + global_poll_interval_;
    if (sys::coarse_now_ns() == cached_now_ns_ && !tuning::simulated) return false;
    if (!SENNIT_MUTANT("a global poll beside children"))
        next_global_poll_.store_rlx(counted.tasks_picked.read()); // orders nothing
    return global_poll_due();
}

bool worker::run_alternating() noexcept {
    runnable* item =
        queue_.pop_alternating([this]() noexcept { return ticked(began_oldest_spawned_ns_); });
    if (item) run(*item);
    return item != nullptr;
}

// Whether the coarse clock has moved since this was true for `last_ns`.
bool worker::ticked(std::int64_t& last_ns) const noexcept {
    return std::exchange(last_ns, cached_now_ns_) != cached_now_ns_ || tuning::simulated;
}

// A worker that always has something ready never searches. But what lies behind a stuck worker must
// not wait until one does: at each tick of the coarse clock, a few ms, this worker looks at the
// queues of the others as well.
void worker::help_others() noexcept {
    if (!steals_ || !ticked(helped_ns_)) return;
    const std::int64_t now = sys::now_ns();
    for (unsigned i = 0, all = runtime_.worker_count_with_spares(); i < all; ++i) {
        worker& other = runtime_.worker_at(i);
        if (&other == this) continue;
        const bool stuck = !progress_trackers_[i].made_progress(other.counted.tasks_run(), now);
        if (stuck && ((other.queue_.in_sight() != 0 && steal_tasks(other)) ||
                      steal_from_pinned(other, true)))
            return;
    }
}

} // namespace sennit::sched
