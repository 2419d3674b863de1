// SPDX-License-Identifier: Apache-2.0
// The steps of the idle path. src/core/README.md, "Two protocols" and "Why no wake-up is lost", has
// the protocol and its proof.
//
// Tested by the explorer's groups `idle` and `spare_worker`, models/idle.pml and
// tests/unit/core/runtime_test.cpp.
#include "core/idle/idle_search.hpp"

#include "core/diagnostics/tracing.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/spare/watchdog.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"
#include "sys/thread.hpp"

#include <algorithm>
#include <utility>

namespace sennit::sched {

using tuning::force_after_ns, tuning::pauses_per_look, tuning::search_ns, tuning::take_after_ns;

void idle_search::prepare(unsigned workers) {
    progress_trackers_ = std::make_unique<progress_tracker[]>(workers);
}

bool idle_search::work_in_sight() noexcept {
    if (!me_.queue().empty() || !me_.global_sources_empty() ||
        me_.stealing().find_stealable_context())
        return true;
    if (me_.runtime().timers().next_ns() <= sys::now_ns()) return true;
    if (!me_.steals()) return false;
    for (unsigned i = 0, all = me_.runtime().worker_count_with_spares(); i < all; ++i)
        if (context* target = me_.runtime().worker_at(i).running();
            target && !fork_range::of(target->forks.load()).empty())
            return true;
    return false;
}

// Scans the other workers' queues and steals from owners that appear stuck. An owner that has made
// progress since the last scan is left alone: it will run its task soon. `when` selects how
// aggressive the scan is. `just_now` only records a baseline. `a_moment_ago` (after
// `take_after_ns`) scans only queues that allow a theft without a barrier. `a_while_ago` (after
// `force_after_ns`) scans all queues. `long_ago` (after a sentinel's sleep, or later) also takes
// wakeups that are probably stale.
idle_search::sight idle_search::look_at_queues(last_look when) noexcept {
    sight seen = sight::nothing;
    if (!me_.steals()) return seen;
    const bool in_passing = when == last_look::a_moment_ago;
    const std::int64_t now = in_passing ? 0 : sys::now_ns();
    for (unsigned i = 0, all = me_.runtime().worker_count_with_spares(); i < all; ++i) {
        worker& other = me_.runtime().worker_at(i);
        if (&other == &me_) continue;
        progress_tracker& past = progress_trackers_[i];
        if (in_passing && !(past.runs_long_tasks() && other.queue().is_contended())) continue;
        const bool made_progress = in_passing ? past.made_progress_fine(other.progress_counter())
                                              : past.made_progress(other.counted.tasks_run(), now);
        const bool stuck = when != last_look::just_now && !made_progress;
        const std::uint32_t size = other.queue().in_sight();
        if (size == 0) {
            if (!other.pinned_queue().has_soft_affinity()) {
                // Tasks follow one another too quickly to be seen in the queue.
                if (made_progress) seen = sight::lone_tasks;
                continue;
            }
            if (stuck && me_.stealing().steal_from_pinned(other, when == last_look::long_ago))
                return sight::work;
            seen = sight::lone_tasks;
            continue;
        }
        if (!stuck)
            seen = sight::lone_tasks;
        else if (me_.stealing().steal_tasks(other))
            return sight::work;
        else if (other.queue().in_sight() != 0) {
            // Another thief or the owner is inside, perhaps without its processor.
            sys::yield_thread();
            return sight::work;
        }
    }
    return seen;
}

void idle_search::request_share_from_all() noexcept {
    if (!me_.steals()) return;
    for (unsigned i = 0, all = me_.runtime().worker_count_with_spares(); i < all; ++i)
        if (worker& other = me_.runtime().worker_at(i); &other != &me_) other.request_share();
}

// Returns true if it found work. Sets `lone_tasks` if it saw lone tasks, which a sentinel has to
// watch.
bool idle_search::search(bool& lone_tasks) noexcept {
    if (!me_.runtime().begin_search()) return false;
    (void)look_at_queues(last_look::just_now); // Records the baseline of each worker's progress.
    const std::int64_t start = sys::now_ns();
    std::int64_t looked = start;
    bool found = false;
    bool forced = false;
    for (std::int64_t now = start; !found && now - start < search_ns && !me_.runtime().stopping();
         now = sys::now_ns()) {
        request_share_from_all();
        for (unsigned i = 0; i < pauses_per_look; ++i) sys::cpu_relax();
        if (!forced && now - start > force_after_ns) {
            forced = true;
            me_.stealing().force_publication_of_all();
            const sight seen = look_at_queues(last_look::a_while_ago);
            found = seen == sight::work;
            lone_tasks = seen == sight::lone_tasks;
        } else if (now - looked > take_after_ns) {
            looked = now;
            found = look_at_queues(last_look::a_moment_ago) == sight::work;
        }
        found = found || work_in_sight();
    }
    me_.runtime().end_search();
    return found;
}

// Parks until there is work. Returns true if the caller has to search for work again, and false if
// the runtime ends and nothing is left to do. S1 to S7 are the steps in src/core/README.md, "Two
// protocols".
bool idle_search::park_or_find_work() noexcept {
    if (me_.spare().deactivation_requested()) [[unlikely]] {
        if (me_.deactivate()) return true;
    }
    bool lone_tasks = false;
    if (search(lone_tasks)) return true;
    // S1 comes after this line: a push of a lone task that saw the bit and no sentinel would pay
    // for a wake-up.
    bool is_sentinel = lone_tasks && me_.runtime().try_become_sentinel();
    parker_.announce();
    me_.runtime().idle().set(me_.index());
    unsigned quiet_looks = 0;
    std::int64_t sentinel_sleep_ns = tuning::first_sentinel_sleep_ns;
    for (bool first = true;; first = false) {
        request_share_from_all();
        // S3. A push that did not see the announcement of S1 is visible after this barrier; a later
        //     push sees the announcement.
        bool sees_all = true;
        if (me_.runtime().worker_count_with_spares() > 1 && sys::barrier_available() &&
            !SENNIT_MUTANT("barrier before the last look"))
            sees_all = sys::barrier_all_threads();
        if (!SENNIT_MUTANT("force before sleep")) me_.stealing().force_publication_of_all();
        const bool stopping = me_.runtime().stopping();
        const sight seen = look_at_queues(first ? last_look::just_now : last_look::long_ago);
        const bool work =
            seen == sight::work || work_in_sight() || me_.spare().deactivation_requested();
        if (work || stopping) {
            cancel_park(is_sentinel);
            watchdog::notice();
            return work;
        }
        if (!sees_all) { // The system refused the barrier: look again instead of sleeping for good.
            sys::yield_thread();
            continue;
        }
        if (seen == sight::lone_tasks) {
            quiet_looks = 0;
            if (!is_sentinel) is_sentinel = me_.runtime().try_become_sentinel();
        } else if (is_sentinel && ++quiet_looks > tuning::sentinel_idle_looks) {
            is_sentinel = false;
            me_.runtime().release_sentinel();
            // A thread that pushed a lone task before has woken no worker.
            if (!SENNIT_MUTANT("look after a sentinel ends")) continue;
        }
        std::int64_t until = never;
        if (is_sentinel) {
            until = sys::now_ns() + sentinel_sleep_ns;
            sentinel_sleep_ns = std::min(2 * sentinel_sleep_ns, tuning::longest_sentinel_sleep_ns);
        }
        const bool leads = me_.runtime().timers().try_become_leader(me_.index());
        const std::int64_t timer = leads ? me_.runtime().timers().next_ns() : never;
        me_.counted.parks.add();
        tracing::emit(trace_kind::sleeps, nullptr);
        // Registers again at its next lock; until then a busy worker may be exclusive.
        base::unregister_this_thread();
        const bool chosen = timer < until    ? parker_.sleep_to(timer)
                            : until == never ? park_without_deadline()
                                             : parker_.sleep_until(until);
        tracing::emit(trace_kind::rises, nullptr);
        if (leads) me_.runtime().timers().release_lead();
        if (!chosen && timer < until && timer <= sys::now_ns()) {
            cancel_park(is_sentinel); // No more looks: a timer is due, and its task is late.
            watchdog::notice();
            return true;
        }
        if (!chosen) continue;
        watchdog::notice();
        const bool duty_left = is_sentinel || (leads && me_.runtime().timers().next_ns() != never);
        if (is_sentinel) me_.runtime().release_sentinel();
        if (duty_left && !SENNIT_MUTANT("wake-up for a duty that is left"))
            // Another worker must become the sentinel, or sleep until the next timer.
            me_.runtime().wake_one();
        return true;
    }
}

// Stops parking without having been woken.
void idle_search::cancel_park(bool is_sentinel) noexcept {
    if (is_sentinel) me_.runtime().release_sentinel();
    if (me_.runtime().idle().clear(me_.index())) {
        parker_.cancel();
        if (is_sentinel && !SENNIT_MUTANT("wake-up of the next sentinel")) me_.runtime().wake_one();
    } else {
        parker_.sleep(); // A waker has chosen this worker: take its token, which is on the way, ...
        if (!SENNIT_MUTANT("token is passed on"))
            // ... and pass it on: the work seen here may differ from the waker's.
            me_.runtime().wake_one();
    }
}

// Runs at a tick of the coarse clock, every few ms.
void idle_search::help_stuck_workers() noexcept {
    if (!me_.steals()) return;
    const std::int64_t now = sys::now_ns();
    for (unsigned i = 0, all = me_.runtime().worker_count_with_spares(); i < all; ++i) {
        worker& other = me_.runtime().worker_at(i);
        if (&other == &me_) continue;
        const bool stuck = !progress_trackers_[i].made_progress(other.counted.tasks_run(), now);
        if (stuck && ((other.queue().in_sight() != 0 && me_.stealing().steal_tasks(other)) ||
                      me_.stealing().steal_from_pinned(other, true)))
            return;
    }
}

} // namespace sennit::sched
