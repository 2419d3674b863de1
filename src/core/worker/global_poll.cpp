// SPDX-License-Identifier: Apache-2.0
// The global poll of a worker: once in some picks it looks at all work that its usual order would
// starve.
//
// Which threads run this: the worker's own thread. src/core/README.md, "What begins and when",
// states the order in a global poll, how often one is due, and the resulting bounds. A global poll
// is due sooner if the watchdog requests it (`global_poll_schedule::request`).
//
// Tested by the explorer's group `fairness`, tests/regress/starvation_test.cpp and
// liveness_test.cpp.
#include "core/worker/global_poll.hpp"

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
    if (guest_) [[unlikely]] {
        leave_as_guest(); // Nothing of *this may be used afterwards.
        return true;
    }
    if (spare_.deactivation_requested()) [[unlikely]]
        (void)deactivate();
    poll_.begin(counted.tasks_picked.read());
    base::try_become_exclusive(cached_now_ns());
    expire_timers();
    if (event_source* const events = runtime_.active_events();
        events && !events->has_poller() && poll_.events.due(cached_now_ns()) &&
        !SENNIT_MUTANT("a busy worker polls for events"))
        poll_.events.note(poll_events());
    consolidate();
    // A worker that always has a ready task never searches, yet work behind a stuck worker must not
    // wait for a worker that does.
    if (poll_.help.due(cached_now_ns()) && !SENNIT_MUTANT("help while there is work"))
        idle_.help_stuck_workers();
    // Alternating prevents a steady stream of outside work from starving the own queue.
    const bool own_first = std::exchange(poll_.own_queue_first, !poll_.own_queue_first) &&
                           !SENNIT_MUTANT("outside and here by turns");
    if (own_first && run_alternating()) return true;
    // Contexts that yield in a loop would otherwise starve their own forks, even more so if they
    // yield through outside queues.
    const bool forks_first = std::exchange(poll_.last_took_outside, false);
    if (forks_first && stealing().steal_fork_from_suspended()) return true;
    // Shared new work waits for a worker that has no work of its own, but not forever.
    const bool shared_first = poll_.begin_shared.due(cached_now_ns()) &&
                              !SENNIT_MUTANT("a global poll begins what was shared");
    if (runnable* global = pop_global(shared_first ? shared_queue::new_work::first
                                                   : shared_queue::new_work::not_now)) {
        poll_.last_took_outside = true;
        run(*global);
        return true;
    }
    if (!forks_first && stealing().steal_fork_from_suspended()) return true;
    return !own_first && run_alternating();
}

// Schedules the next global poll. It is due after `tuning::global_poll_interval` picks, or fewer if
// that many picks have taken longer than `tuning::global_poll_target_ns`, because timers and
// outside work wait for all of them. A pick may be a row of mailboxes, which shrinks with the
// interval, and each mailbox may handle a row of messages. Messages are cheap because of that
// second row, so it shrinks only where even the shortest interval takes too long.
void global_poll_schedule::begin(std::uint64_t picked) noexcept {
    const std::int64_t now = sys::coarse_now_ns();
    const std::int64_t past = now - std::exchange(cached_now_ns_, now);
    const auto scaled = [past](unsigned number) noexcept {
        return static_cast<unsigned>(number * tuning::global_poll_target_ns / past);
    };
    const bool too_long = past > tuning::global_poll_target_ns;
    if (too_long && interval_ > tuning::min_global_poll_interval)
        interval_ = std::max(tuning::min_global_poll_interval, scaled(interval_));
    else if (too_long)
        max_messages_per_batch_ = std::max(1u, scaled(max_messages_per_batch_));
    else if (past == 0 && max_messages_per_batch_ < tuning::messages_per_batch)
        max_messages_per_batch_ = std::min(2 * max_messages_per_batch_, tuning::messages_per_batch);
    else if (past == 0)
        interval_ = std::min(2 * interval_, tuning::global_poll_interval);
    next_.store_rlx(picked + interval_); // Orders nothing.
}

// A fiber that creates and joins children in a loop never comes to a pick, and would starve all
// other work.
bool worker::check_clock_beside_children() noexcept {
    if (!poll_.ticked_beside_children(counted.inline_runs.read())) return false;
    if (!SENNIT_MUTANT("a global poll beside children"))
        poll_.make_due(counted.tasks_picked.read());
    return global_poll_due();
}

bool global_poll_schedule::ticked_beside_children(std::uint64_t inline_runs) noexcept {
    next_clock_beside_children_ = inline_runs + interval_;
    return sys::coarse_now_ns() != cached_now_ns_ || tuning::simulated;
}

bool worker::run_alternating() noexcept {
    runnable* item = queue_.pop_alternating(
        [this]() noexcept { return poll_.begin_oldest_spawned.due(cached_now_ns()); });
    if (item) run(*item);
    return item != nullptr;
}

} // namespace sennit::sched
