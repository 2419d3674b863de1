// SPDX-License-Identifier: Apache-2.0
// The idle path of a worker: search for work for up to 50 us, ask busy workers to share, then park.
// src/core/README.md, "Two protocols" and "Why no wake-up is lost", has the protocol and its
// proof.
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

bool worker::work_in_sight() noexcept {
    if (!queue_.empty() || !global_sources_empty() || find_stealable_context()) return true;
    if (runtime_.timers().next_ns() <= sys::now_ns()) return true;
    if (!steals_) return false;
    for (unsigned i = 0, all = runtime_.worker_count_with_spares(); i < all; ++i)
        if (context* target = runtime_.worker_at(i).running();
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
worker::sight worker::look_at_queues(last_look when) noexcept {
    sight seen = sight::nothing;
    if (!steals_) return seen;
    const bool in_passing = when == last_look::a_moment_ago;
    const std::int64_t now = in_passing ? 0 : sys::now_ns();
    for (unsigned i = 0, all = runtime_.worker_count_with_spares(); i < all; ++i) {
        worker& other = runtime_.worker_at(i);
        if (&other == this) continue;
        progress_tracker& past = progress_trackers_[i];
        if (in_passing && !(past.runs_long_tasks() && other.queue_.is_contended())) continue;
        const bool made_progress = in_passing ? past.made_progress_fine(other.progress_counter())
                                              : past.made_progress(other.counted.tasks_run(), now);
        const bool stuck = when != last_look::just_now && !made_progress;
        const std::uint32_t size = other.queue_.in_sight();
        if (size == 0) {
            if (!other.pinned_queue_.has_soft_affinity()) {
                // Tasks follow one another too quickly to be seen in the queue.
                if (made_progress) seen = sight::lone_tasks;
                continue;
            }
            if (stuck && steal_from_pinned(other, when == last_look::long_ago)) return sight::work;
            seen = sight::lone_tasks;
            continue;
        }
        if (!stuck)
            seen = sight::lone_tasks;
        else if (steal_tasks(other))
            return sight::work;
        else if (other.queue_.in_sight() != 0) {
            // Another thief or the owner is inside, perhaps without its processor.
            sys::yield_thread();
            return sight::work;
        }
    }
    return seen;
}

void worker::request_share_from_all() noexcept {
    if (!steals_) return;
    for (unsigned i = 0, all = runtime_.worker_count_with_spares(); i < all; ++i)
        if (worker& other = runtime_.worker_at(i); &other != this) other.request_share();
}

// Returns true if it found work. Sets `lone_tasks` if it saw lone tasks, which a sentinel has to
// watch.
bool worker::search(bool& lone_tasks) noexcept {
    if (!runtime_.begin_search()) return false;
    (void)look_at_queues(last_look::just_now); // Records the baseline of each worker's progress.
    const std::int64_t start = sys::now_ns();
    std::int64_t looked = start;
    bool found = false;
    bool forced = false;
    for (std::int64_t now = start; !found && now - start < search_ns && !runtime_.stopping();
         now = sys::now_ns()) {
        request_share_from_all();
        for (unsigned i = 0; i < pauses_per_look; ++i) sys::cpu_relax();
        if (!forced && now - start > force_after_ns) {
            forced = true;
            force_somebody();
            const sight seen = look_at_queues(last_look::a_while_ago);
            found = seen == sight::work;
            lone_tasks = seen == sight::lone_tasks;
        } else if (now - looked > take_after_ns) {
            looked = now;
            found = look_at_queues(last_look::a_moment_ago) == sight::work;
        }
        found = found || work_in_sight();
    }
    runtime_.end_search();
    return found;
}

// Parks until there is work. Returns true if the caller has to search for work again, and false if
// the runtime ends and nothing is left to do. S1 to S7 are the steps in src/core/README.md, "Two
// protocols".
bool worker::park_or_find_work() noexcept {
    if (deactivation_requested()) [[unlikely]] {
        if (deactivate()) return true;
    }
    bool lone_tasks = false;
    if (search(lone_tasks)) return true;
    // S1 comes after this line: a push of a lone task that saw the bit and no sentinel would pay
    // for a wake-up.
    bool is_sentinel = lone_tasks && runtime_.try_become_sentinel();
    parker_.announce();
    runtime_.idle().set(index_);
    unsigned quiet_looks = 0;
    std::int64_t sentinel_sleep_ns = tuning::first_sentinel_sleep_ns;
    for (bool first = true;; first = false) {
        request_share_from_all();
        // S3. A push that did not see the announcement of S1 is visible after this barrier; a later
        //     push sees the announcement.
        bool sees_all = true;
        if (runtime_.worker_count_with_spares() > 1 && sys::barrier_available() &&
            !SENNIT_MUTANT("barrier before the last look"))
            sees_all = sys::barrier_all_threads();
        if (!SENNIT_MUTANT("force before sleep")) force_somebody();
        const bool stopping = runtime_.stopping();
        const sight seen = look_at_queues(first ? last_look::just_now : last_look::long_ago);
        const bool work = seen == sight::work || work_in_sight() || deactivation_requested();
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
            if (!is_sentinel) is_sentinel = runtime_.try_become_sentinel();
        } else if (is_sentinel && ++quiet_looks > tuning::sentinel_idle_looks) {
            is_sentinel = false;
            runtime_.release_sentinel();
            // A thread that pushed a lone task before has woken no worker.
            if (!SENNIT_MUTANT("look after a sentinel ends")) continue;
        }
        std::int64_t until = never;
        if (is_sentinel) {
            until = sys::now_ns() + sentinel_sleep_ns;
            sentinel_sleep_ns = std::min(2 * sentinel_sleep_ns, tuning::longest_sentinel_sleep_ns);
        }
        const bool leads = runtime_.timers().try_become_leader(index_);
        const std::int64_t timer = leads ? runtime_.timers().next_ns() : never;
        counted.parks.add();
        tracing::emit(trace_kind::sleeps, nullptr);
        // Registers again at its next lock; until then a busy worker may be exclusive.
        base::unregister_this_thread();
        const bool chosen = timer < until    ? parker_.sleep_to(timer)
                            : until == never ? sleep_for_good()
                                             : parker_.sleep_until(until);
        tracing::emit(trace_kind::rises, nullptr);
        if (leads) runtime_.timers().release_lead();
        if (!chosen && timer < until && timer <= sys::now_ns()) {
            cancel_park(is_sentinel); // No more looks: a timer is due, and its task is late.
            watchdog::notice();
            return true;
        }
        if (!chosen) continue;
        watchdog::notice();
        const bool duty_left = is_sentinel || (leads && runtime_.timers().next_ns() != never);
        if (is_sentinel) runtime_.release_sentinel();
        if (duty_left && !SENNIT_MUTANT("wake-up for a duty that is left"))
            // Another worker must become the sentinel, or sleep until the next timer.
            runtime_.wake_one();
        return true;
    }
}

// Stops parking without having been woken.
void worker::cancel_park(bool is_sentinel) noexcept {
    if (is_sentinel) runtime_.release_sentinel();
    if (runtime_.idle().clear(index_)) {
        parker_.cancel();
        if (is_sentinel && !SENNIT_MUTANT("wake-up of the next sentinel")) runtime_.wake_one();
    } else {
        parker_.sleep(); // A waker has chosen this worker: take its token, which is on the way, ...
        if (!SENNIT_MUTANT("token is passed on"))
            // ... and pass it on: the work seen here may differ from the waker's.
            runtime_.wake_one();
    }
}

} // namespace sennit::sched
