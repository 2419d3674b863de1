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
#include "sys/processor.hpp"
#include "sys/thread.hpp"

#include <algorithm>
#include <utility>

#ifdef SENNIT_SIMULATOR
namespace sennit::sim::hooks {
bool looks_may_be_late() noexcept; // False unless a scenario allows it.
}
#endif

namespace sennit::sched {

namespace {
#ifdef SENNIT_SIMULATOR
bool looks_may_be_late() noexcept {
    return sim::hooks::looks_may_be_late();
}
#else
constexpr bool looks_may_be_late() noexcept {
    return true;
}
#endif
} // namespace

using tuning::force_after_ns, tuning::leave_events_ns, tuning::take_after_ns;
using tuning::looks_per_event_poll, tuning::pauses_per_look;

void idle_search::prepare(unsigned workers, std::chrono::nanoseconds search_time) {
    progress_trackers_ = std::make_unique<progress_tracker[]>(workers);
    search_policy_ = search_policy(search_time.count());
}

bool idle_search::work_in_sight() noexcept {
    if (caught_.count != 0) return true;
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
    me_.counted.scans.add();
    const bool in_passing = when == last_look::a_moment_ago;
    const std::int64_t now = in_passing ? 0 : sys::now_ns();
    for (unsigned i = 0, all = me_.runtime().worker_count_with_spares(); i < all; ++i) {
        worker& other = me_.runtime().worker_at(i);
        if (&other == &me_) continue;
        progress_tracker& past = progress_trackers_[i];
        if (in_passing && !(past.runs_long_tasks() && other.queue().is_contended())) continue;
        const bool made_progress = in_passing ? past.made_progress_fine(other.progress_counter())
                                              : past.made_progress(other.counted.tasks_run(), now);
        // Only a sentinel's scan takes tasks from the host, which keeps them for a reason.
        const bool kept =
            (when != last_look::long_ago || SENNIT_MUTANT("tasks are stolen from a stuck host")) &&
            me_.runtime().consolidation().is_host(other.affinity());
        const bool stuck = when != last_look::just_now && !made_progress && !kept;
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
        if (worker& other = me_.runtime().worker_at(i); &other != &me_) other.request_share(me_);
}

// For a look on behalf of other parked workers. This worker is a busy worker to them: it has taken
// work already, or will, and that work may fork.
void idle_search::request_share_from_all_and_self() noexcept {
    request_share_from_all();
    if (me_.steals() && me_.runtime().worker_count_with_spares() > 1 &&
        !SENNIT_MUTANT("a worker that looks shares, too"))
        me_.request_share(me_);
}

// Requires that this worker is counted as a searcher. Returns true if it found work. Sets
// `lone_tasks` if it saw lone tasks, which a sentinel has to watch.
bool idle_search::search(std::int64_t start, bool& lone_tasks) noexcept {
    (void)look_at_queues(last_look::just_now); // Records the baseline of each worker's progress.
    const std::int64_t search_ns = search_policy_.search_ns();
    const event_source* const source = me_.runtime().events();
    const std::uint32_t delivered = source ? source->delivered() : 0;
    std::int64_t looked = start;
    bool found = false;
    bool forced = false;
    unsigned looks = 0;
    for (std::int64_t now = start; !found && now - start < search_ns && !me_.runtime().stopping();
         now = sys::now_ns()) {
        request_share_from_all();
        for (unsigned i = 0; i < pauses_per_look; ++i) sys::cpu_relax();
        if (!forced && now - start > force_after_ns) {
            forced = true;
            me_.stealing().force_publication_of_any();
            const sight seen = look_at_queues(last_look::a_while_ago);
            found = seen == sight::work;
            lone_tasks = seen == sight::lone_tasks;
        } else if (now - looked > take_after_ns) {
            looked = now;
            found = look_at_queues(last_look::a_moment_ago) == sight::work;
        }
        // Leaves events to the busy poller, unless that worker delivers none for a while.
        const bool leaves = source && source->has_busy_poller_beside(me_.index()) &&
                            (now - start < leave_events_ns || source->delivered() != delivered);
        if (++looks % looks_per_event_poll == 0 && !leaves) (void)me_.poll_events();
        found = found || work_in_sight();
    }
    if (found) search_policy_.note_gap(sys::now_ns() - start);
    return found;
}

// Returns true if there may be work for which a parked worker must be woken, besides the work that
// this worker has taken.
bool idle_search::work_for_others() noexcept {
    runtime_core& all = me_.runtime();
    if (!all.injector().empty() || all.has_stealable_contexts()) return true;
    if (all.timers().next_ns() != never && !all.timers().has_leader()) return true;
    if (all.events_need_poller() && !SENNIT_MUTANT("a poller that leaves is replaced")) return true;
    if (me_.queue().in_sight() != 0) return true;
    const std::uint32_t left_to_sentinel = all.has_sentinel() ? 1 : 0;
    for (unsigned i = 0, n = all.worker_count_with_spares(); i < n; ++i) {
        worker& other = all.worker_at(i);
        if (&other == &me_) continue;
        if (other.queue().in_sight() > left_to_sentinel) return true;
        if (context* target = other.running();
            target && !fork_range::of(target->forks.load()).empty())
            return true;
    }
    return false;
}

void idle_search::hand_over_search() noexcept {
    if (std::exchange(searches_, false)) (void)me_.runtime().end_search();
}

// Posters have left work to the searchers. The last searcher therefore wakes a worker if there is
// more work than it has taken. It looks a second time, after a barrier, if there may be work that
// only such a look shows: a barrier costs less than a wake-up in vain.
void idle_search::end_search_slowly() noexcept {
    searches_ = false;
    if (!me_.runtime().end_search() || !me_.steals()) return;
    // A worker that parks from here on does not rely on this one.
    if (!me_.runtime().idle().any(me_.runtime().worker_capacity())) return;
    bool wake = work_for_others();
    if (!wake && me_.runtime().unproven() && !SENNIT_MUTANT("look of the last searcher"))
        wake = look_for_parked_workers();
    if (wake && !SENNIT_MUTANT("wake-up by the last searcher")) me_.runtime().wake_one();
}

// Looks behind a barrier on behalf of the parked workers. Returns true if one of them must be
// woken.
bool idle_search::look_for_parked_workers() noexcept {
    me_.runtime().clear_unproven();
    request_share_from_all_and_self();
    const bool sees_all = !sys::barrier_available() || sys::barrier_all_threads();
    return !sees_all || work_for_others() || me_.stealing().sees_private_forks();
}

// Returns true if events were delivered since the last call.
bool idle_search::events_moved(event_source* events) noexcept {
    if (!events) return false;
    const std::uint32_t now = events->delivered();
    return std::exchange(seen_delivered_, now) != now;
}

bool idle_search::park_or_find_work() noexcept {
    if (!searches_) searches_ = me_.runtime().begin_search();
    for (;;) {
        if (me_.spare().deactivation_requested()) [[unlikely]] {
            if (me_.deactivate()) return true;
            searches_ = me_.runtime().begin_search();
        }
        bool lone_tasks = false;
        const bool searched = searches_;
        const std::int64_t start = sys::now_ns();
        if (!searched)
            lone_tasks = look_at_queues(last_look::just_now) == sight::lone_tasks;
        else if (search(start, lone_tasks))
            return true;
        if (!park(lone_tasks)) return false;
        me_.see_steal_requests();
        if (searched) search_policy_.note_gap(sys::now_ns() - start);
        if (!searches_ || work_in_sight()) return true;
    }
}

// Parks until there is work, or until a waker chooses this worker. Returns false if the runtime
// ends and nothing is left to do. S1 to S8 are the steps in src/core/README.md, "Two protocols".
bool idle_search::park(bool lone_tasks) noexcept {
    me_.stop_consolidating();
    if (event_source* const source = me_.runtime().events()) source->note_park(me_.index());
    // S1 comes after this line: a push of a lone task that saw the bit and no sentinel would pay
    // for a wake-up.
    bool is_sentinel = lone_tasks && me_.runtime().try_become_sentinel();
    parker_.announce();
    me_.runtime().idle().set(me_.index());
    // S2. A worker that leaves another searcher behind does not look again: that searcher, or one
    //     that it wakes, does so before it parks.
    me_.runtime().set_unproven();
    bool looks = std::exchange(searches_, false) ? me_.runtime().end_search()
                                                 : !me_.runtime().has_searcher();
    looks = looks || !me_.steals();
    bool late = looks && !is_sentinel && may_look_late();
    const std::int64_t look_ns = owes_look_ ? sys::now_ns() + tuning::late_look_ns : never;
    unsigned quiet_looks = 0;
    std::int64_t sentinel_sleep_ns = tuning::first_sentinel_sleep_ns;
    for (bool first = true;; first = false) {
        sight seen = sight::nothing;
        bool sees_all = true;
        // A sentinel's scan proves nothing: a later scan, or the look after its watch, sees more.
        // Neither does a look before a late one.
        const bool watches = (is_sentinel || SENNIT_MUTANT("barrier after a watch")) && !first;
        const bool scans = (watches || late) && !me_.runtime().stopping();
        if (looks) {
            if (!scans) me_.runtime().clear_unproven();
            request_share_from_all_and_self();
            // S4. A push that did not see the announcement of S1 and S2 is visible after this
            //     barrier; a later push sees the announcement.
            //     Other workers that are parked need no barrier.
            const bool barrier = !scans && !me_.runtime().all_parked_but(me_.index()) &&
                                 !SENNIT_MUTANT("barrier before the last look");
            if (!SENNIT_MUTANT("force before sleep"))
                sees_all = me_.stealing().force_publication_of_all(barrier);
            else if (barrier && sys::barrier_available())
                sees_all = sys::barrier_all_threads();
        }
        const bool stopping = me_.runtime().stopping();
        if (looks) seen = look_at_queues(first ? last_look::just_now : last_look::long_ago);
        const bool work = seen == sight::work ||
                          (looks ? work_in_sight() : !me_.global_sources_empty()) ||
                          me_.spare().deactivation_requested();
        // Other workers have relied on this searcher, or the look was only a scan.
        if (stopping && !work && (!looks || scans)) {
            looks = true;
            continue;
        }
        if (work || stopping) {
            cancel_park(is_sentinel);
            watchdog::notice();
            // The token that this worker may have taken was for another worker, which has to end.
            if (!work && !SENNIT_MUTANT("an ending worker wakes the next"))
                me_.runtime().wake_searcher();
            return work;
        }
        if (!sees_all) { // The system refused the barrier: look again instead of sleeping for good.
            sys::yield_thread();
            continue;
        }
        // E4. After S1: a thread that registers the first descriptor sees the bit.
        event_source* const events = me_.runtime().active_events();
        const bool polled = events && events->has_poller();
        // While events come, a second worker looks after the poller, or after the busy poller.
        const bool events_come = events_moved(events);
        const bool leaves =
            events && events->has_busy_poller_beside(me_.index()) &&
            (events_come || SENNIT_MUTANT("a sentinel leaves events to a stuck worker"));
        if (seen == sight::lone_tasks || (events_come && (polled || leaves))) {
            quiet_looks = 0;
            if (!is_sentinel) is_sentinel = me_.runtime().try_become_sentinel();
        } else if (looks && is_sentinel &&
                   ((events && !polled && !leaves) ||
                    ++quiet_looks >
                        (events ? tuning::event_idle_looks : tuning::sentinel_idle_looks))) {
            is_sentinel = false; // Where no worker waits for events, this one does from now on.
            me_.runtime().release_sentinel();
            // A thread that pushed a lone task before has woken no worker.
            if (!SENNIT_MUTANT("look after a sentinel ends")) continue;
        }
        std::int64_t until = never;
        if (is_sentinel) {
            until = sys::now_ns() + sentinel_sleep_ns;
            sentinel_sleep_ns = std::min(2 * sentinel_sleep_ns, tuning::longest_sentinel_sleep_ns);
        }
        if (owes_look_ && !SENNIT_MUTANT("late look")) until = std::min(until, look_ns);
        leads_ = me_.runtime().timers().try_become_leader(me_.index());
        const std::int64_t timer = leads_ ? me_.runtime().timers().next_ns() : never;
        event_source* const polls =
            events && !leaves && events->try_become_poller(me_.index()) ? events : nullptr;
        me_.counted.parks.add();
        tracing::emit(trace_kind::sleeps, nullptr);
        // Registers again at its next lock; until then a busy worker may be exclusive.
        base::unregister_this_thread();
        const bool offered = until == never && timer == never && !polls;
        if (offered) me_.loan().offer();
        const bool chosen = timer < until    ? parker_.sleep_to(timer, polls, caught_)
                            : until == never ? park_without_deadline(polls)
                                             : parker_.sleep_for_either(until, polls, caught_);
        if (offered) me_.loan().end_offer();
        tracing::emit(trace_kind::rises, nullptr);
        if (polls) polls->release_poller();
        const bool leads = std::exchange(leads_, false);
        if (leads) me_.runtime().timers().release_lead();
        if (!chosen && (caught_.count != 0 || (timer < until && timer <= sys::now_ns()))) {
            cancel_park(is_sentinel); // No more looks: a timer is due, and its task is late.
            watchdog::notice();
            return true;
        }
        looks = true; // A sentinel's scan, or the timer leader's.
        if (!chosen) {
            if (owes_look_ && sys::now_ns() >= look_ns) {
                late_look_policy_.note_due();
                end_late_look();
            }
            late = owes_look_ || SENNIT_MUTANT("barrier of a late look");
            continue;
        }
        watchdog::notice();
        leave_processor_of_waker();
        searches_ = parker_.woken_as_searcher();
        // A searcher has the duty of the last one. Any other worker looks at once.
        const bool owed_look = owes_look_;
        note_saved_look();
        if (owed_look && !searches_ && !me_.runtime().has_searcher() && me_.runtime().unproven() &&
            !SENNIT_MUTANT("late look of a worker that was chosen") && look_for_parked_workers())
            me_.runtime().wake_one();
        const bool was_sentinel = std::exchange(is_sentinel, false);
        if (was_sentinel) end_watch();
        const bool duty_left = was_sentinel ||
                               (leads && me_.runtime().timers().next_ns() != never) ||
                               (polls && me_.runtime().events_need_poller());
        if (duty_left && !searches_ && !SENNIT_MUTANT("wake-up for a duty that is left"))
            // Another worker must become the sentinel, or sleep until the next timer.
            me_.runtime().wake_one();
        return true;
    }
}

waker_note idle_search::leave_waker_note(const sched::parker* woken) noexcept {
    waker_note note{.from_outside = false};
    if (tuning::simulated || !woken || !std::exchange(woken_from_outside_, false)) return note;
    note.processor = sys::current_processor();
    note.at_ns = woken_ns_ = sys::now_ns();
    woken_ = woken;
    return note;
}

bool idle_search::waits_for_woken_slowly() noexcept {
    if (woken_->notified_hint()) {
        if (sys::now_ns() - woken_ns_ < tuning::woken_begin_ns) return true;
        sys::yield_thread();
    }
    woken_ = nullptr;
    return false;
}

// After a wake-up: see waker_note.hpp.
void idle_search::leave_processor_of_waker() noexcept {
    const waker_note& from = parker_.waker();
    woken_from_outside_ = from.from_outside;
    if (from.processor == waker_note::no_processor) return;
    if (from.competes(sys::current_processor(), sys::now_ns()))
        (void)sys::leave_processor(from.processor, me_.runtime().active_worker_count());
}

// Called after S2. Returns true if the look of S4 and S5 behind a barrier may come late: there is a
// late looker, or this worker has become it. This worker then looks once without a barrier.
bool idle_search::may_look_late() noexcept {
    runtime_core& all = me_.runtime();
    if (!looks_may_be_late() || !me_.steals() || !sys::barrier_available() ||
        all.all_parked_but(me_.index()))
        return false;
    if (!all.try_become_late_looker()) return true;
    owes_look_ = late_look_policy_.looks_late();
    if (!owes_look_) all.release_late_look();
    return owes_look_;
}

// Ends the role of the late looker. Until this worker, or another one, has looked behind a barrier,
// `unproven` stays set.
void idle_search::end_late_look() noexcept {
    owes_look_ = false;
    me_.runtime().release_late_look();
}

void idle_search::note_saved_look() noexcept {
    if (!owes_look_) return;
    late_look_policy_.note_saved();
    end_late_look();
}

// Lone tasks that were pushed before may be visible only after a barrier, and woke no worker.
void idle_search::end_watch() noexcept {
    me_.runtime().release_sentinel();
    me_.runtime().set_unproven();
}

// Stops parking without having been woken. The worker becomes a searcher: it may be the only one
// that has seen the tasks of posters that woke no worker.
void idle_search::cancel_park(bool is_sentinel) noexcept {
    note_saved_look();
    if (is_sentinel) end_watch();
    if (me_.runtime().idle().clear(me_.index())) {
        parker_.cancel();
        me_.runtime().rejoin_search();
        searches_ = true;
    } else {
        parker_.sleep(); // A waker has chosen this worker: take its token, which is on the way, ...
        searches_ = parker_.woken_as_searcher();
        // ... and pass it on: the work seen here may differ from the waker's.
        if (SENNIT_MUTANT("token is passed on")) return;
        me_.runtime().set_unproven();
        if (!searches_) me_.runtime().wake_one();
    }
}

// Runs at a tick of the coarse clock, every few ms.
void idle_search::help_stuck_workers() noexcept {
    if (!me_.steals()) return;
    me_.counted.scans.add();
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
