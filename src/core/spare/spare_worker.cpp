// SPDX-License-Identifier: Apache-2.0
// A spare worker: a worker with an index after the regular ones, which the watchdog activates and
// releases.
//
// States (`spare_state::word_`):
//
//   state    | the spare worker                             | left for
//   active   | works: it parks with a bit of its own in the | leaving, by the watchdog or `resize`
//            | idle map, thieves search it, it leads timers |
//   leaving  | works, until it comes between two tasks      | inactive, by the spare worker
//            | (`worker::poll_global_sources`,              |
//            | `idle_search::park_or_find_work`)            |
//   inactive | has moved its queue to the injector,         | leaving, by itself, for bound work;
//            | and sleeps on this word                      | notified, by a poster of bound work
//   notified | is about to look into its pinned queue       | inactive, by the spare worker
//
// Bound work is work that only this spare worker may run. The watchdog and `resize` make any state
// active again. Both write with the registry's lock held.
//
// A leaving spare worker is a worker in every respect. Its current task, or the last task that it
// picked, may block the thread. The watchdog and thieves therefore look at a spare worker and its
// queue until it is inactive, and only then stop.
//
// No fiber is bound to a spare worker. But a mailbox that had its last batch there gets new
// messages through that worker's pinned queue. Any worker may run these wakeups: sentinels take
// them, and so does the watchdog at each look. Where the system has begun to refuse membarriers
// (mailbox.hpp), only its owner can help such a mailbox. The poster then notifies the spare worker
// (`notify_inactive`), which runs its bound work before it sleeps.
//
// A runtime that grows (`resize`) retains spare workers: `resize` activates and releases them in
// the way described here, and no other caller does. `retained_spare_count_` marks them.
// `worker_count_with_spares_` is the number of regular and spare workers; it only grows.
//
// Why nothing is lost.
//
// 1. A searching worker reads `worker_count_with_spares_` after it has set its bit in the idle map;
//    a spare worker's thread starts after `worker_count_with_spares_` was written. So a parking
//    worker that has not seen the spare worker has set its bit before the spare worker's first
//    push, which reads the idle map. This is the README's argument for a post, with
//    `worker_count_with_spares_` in the place of the work. All accesses are sequentially
//    consistent. The spare worker's first fork is public, as is that of each worker that starts
//    late (`worker::thread_main`).
// 2. A spare worker may be told to leave while it parks. It sets its bit, then reads
//    `word_`; the watchdog writes `word_`, then takes the bit. One of the two sees the other.
// 3. A leaving spare worker empties its queue by posts. When it is activated again, it continues
//    after its sleep in the middle of the loop. All its other state lies on the stacks of contexts,
//    which stay with the worker that resumes them. It also wakes one worker, whether its queue held
//    anything or not: a poster may have chosen it, and no other worker, for work that it has not
//    seen.
// 4. Work that is pushed to the queue of a leaving spare worker comes from its current task. The
//    watchdog counts the spare worker as it counts any worker, so it notices a stuck one, and
//    treats the work behind it as ready behind a stuck worker (watchdog.cpp).
// 5. A poster of bound work pushes before it reads `word_`. If it reads `leaving`, the spare
//    worker makes that `inactive` later, and then looks. If it reads `inactive`, it makes that
//    `notified`, and the spare worker does not sleep, or is woken. If it reads `notified`, the
//    spare worker makes that `inactive` later, and then looks. All accesses are sequentially
//    consistent.
#include "core/runtime/registry.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/futex.hpp"
#include "sys/mutant.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

namespace sennit::sched {

// Returns true if there is work for this spare worker, or it is activated again. False: the runtime
// ends.
bool worker::deactivate() noexcept {
    stop_consolidating();
    if (event_source* const source = runtime_.events()) source->note_park(index_);
    run_queue::batch all;
    if (queue_.take_all(all) != 0) runtime_.injector().push_batch(all);
    if (!SENNIT_MUTANT("a spare that deactivates is no searcher")) idle_.end_search();
    if (!SENNIT_MUTANT("wake-up by a spare that deactivates")) runtime_.wake_one();
    idle_.advance_untimed_park_epoch();
    spare_.sleep_inactive(*this);
    see_steal_requests();
    idle_.advance_untimed_park_epoch();
    return !runtime_.stopping();
}

void spare_state::sleep_inactive(worker& me) noexcept {
    const base::atomic<std::uint32_t>& word = word_;
    for (std::uint32_t seen = word_.load(); seen != active && !me.runtime().stopping();
         seen = word_.load()) {
        if (seen != inactive && !word_.cas(seen, inactive)) continue;
        if (me.pinned_queue().has_hard_affinity() &&
            !SENNIT_MUTANT("pinned task of a spare that deactivates")) {
            seen = inactive; // From here on visible to all threads as a worker again.
            while (seen != active && !word_.cas(seen, leaving)) {
            }
            break;
        }
        base::unregister_this_thread();
        sys::futex_wait(word, inactive);
    }
}

void spare_state::notify_inactive() noexcept {
    const base::atomic<std::uint32_t>& word = word_;
    std::uint32_t asleep = inactive;
    if (word_.cas(asleep, notified)) sys::futex_wake(word, 1);
}

void spare_state::activate() noexcept {
    const base::atomic<std::uint32_t>& word = word_;
    word_.store(active);
    sys::futex_wake(word, 1);
}

// Returns an inactive spare worker, a new one, or a leaving one, in this order; null if the
// watchdog has activated as many as it may. `resize` always gets one. Throws the exceptions of
// making a worker.
worker* runtime_core::spare_to_activate(bool for_watchdog) {
    const unsigned existing = worker_count_with_spares();
    worker *inactive = nullptr, *leaving = nullptr;
    unsigned called = 0;
    for (unsigned i = worker_count(); i < existing; ++i) {
        worker& one = worker_at(i);
        if (!one.thread().joinable() || one.spare().is_inactive())
            inactive = inactive ? inactive : &one;
        else if (one.spare().deactivation_requested())
            leaving = leaving ? leaving : &one;
        else
            called += !one.spare().is_retained();
    }
    if (for_watchdog && called >= options_.max_spare_workers) return nullptr;
    if (inactive) return inactive;
    if (existing == worker_capacity()) return leaving;
    if (!first_contexts_[existing]) first_contexts_[existing] = &contexts_.take();
    workers_[existing] = std::make_unique<worker>(*this, existing, worker::kind::spare);
    worker_count_with_spares_.store(existing + 1);
    return workers_[existing].get();
}

// Throws the exceptions of starting a thread.
void runtime_core::start_or_resume_spare(worker& spare) {
    if (spare.thread().joinable()) {
        spare.spare().activate();
        return;
    }
    running_threads_.fetch_add(1);
    try {
        spare.start();
    } catch (...) {
        running_threads_.fetch_sub(1);
        throw;
    }
}

bool runtime_core::activate_spare(bool& refused) noexcept {
    std::lock_guard guard(spares_mutex_); // A dump reads the list of workers and their threads.
    try {
        worker* one = spare_to_activate(true);
        if (!one) return false;
        // Counted first: the effects of the spare worker may be visible immediately.
        spares_activated_.fetch_add(1);
        try {
            start_or_resume_spare(*one);
        } catch (...) {
            spares_activated_.fetch_sub(1);
            throw;
        }
        return true;
    } catch (const std::exception&) {
        refused = true;
        return false;
    }
}

void runtime_core::request_deactivation(worker& spare) noexcept {
    spare.spare().request_deactivation();
    wake_worker(spare.index());
}

void runtime_core::release_spare(worker& spare) noexcept {
    request_deactivation(spare);
    spares_released_.fetch_add(1);
}

void runtime_core::resize(unsigned workers) {
    if (workers < options_.workers || workers > options_.max_workers)
        throw std::invalid_argument(
            "sennit: [SNT-014] this runtime may have from " + std::to_string(options_.workers) +
            " to " + std::to_string(options_.max_workers) + " workers, not " +
            std::to_string(workers) + "; runtime_options::max_workers sets the upper bound");
    const auto registered = registry::lock(); // The watchdog makes no look meanwhile.
    std::lock_guard guard(spares_mutex_);
    const unsigned wanted = workers - options_.workers;
    while (retained_spare_count_.load_rlx() < wanted) { // Written under the lock.
        worker& one = *spare_to_activate(false);
        one.spare().set_retained(true); // Set first: the watchdog must not release this worker.
        try {
            start_or_resume_spare(one);
        } catch (...) {
            one.spare().set_retained(false);
            throw;
        }
        retained_spare_count_.fetch_add(1);
    }
    for (unsigned i = worker_count_with_spares();
         retained_spare_count_.load_rlx() > wanted;) { // Written under the lock.
        worker& one = worker_at(--i);
        if (!one.spare().is_retained()) continue;
        one.spare().set_retained(false);
        retained_spare_count_.fetch_sub(1);
        request_deactivation(one);
    }
}

// The runtime ends, and the watchdog activates no more spare workers. Inactive spare workers must
// end, too.
void runtime_core::wake_spares_to_end() noexcept {
    for (unsigned i = worker_count(); i < worker_count_with_spares(); ++i)
        worker_at(i).spare().activate();
}

} // namespace sennit::sched
