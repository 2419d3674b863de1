// SPDX-License-Identifier: Apache-2.0
// A relief: a worker behind the last one, that the watchdog calls and sends back.
//
// States (`worker::spare_state_`):
//
//   state     | the relief                                    | left for
//   active    | works: it sleeps with a bit of its own in the | leaving, by the watchdog or
//   `resize`
//             | idle map, is searched by thieves, keeps timers|
//   leaving   | works, until it comes between two pieces of   | inactive, by the relief
//             | work (`worker::poll_global_sources`, `worker::park_or_find_work`) |
//   inactive  | has given what lay in its queue to the shared | leaving, by the relief, to run
//   bound work;
//             | queue, and sleeps on this word                | notified, by a poster of bound work
//   notified  | is about to look into its inbox               | inactive, by the relief
//
// Bound work is what only this relief may run.
// The watchdog and `resize` make any state active again. Both write with the registry's lock held.
//
// A leaving relief is a worker in everything. The piece of work that it is in may block its thread,
// or the last piece that it picked may; so the watchdog and thieves look at a relief and its queue
// until it is inactive, and only then not any more.
//
// Nothing is bound to a relief, but mailboxes that had their last turn there are told of new mail
// by its inbox. Those notices may run anywhere: sleepers that watch take them, and so does the
// watchdog at each look. Where the system has come to refuse membarriers (mailbox.hpp), only their
// owner can help such a mailbox: the poster then notifies the relief (`notify_inactive`), which
// runs what is bound to it before it sleeps.
//
// A runtime that grows (`resize`) hires reliefs: they are called and sent back in the same way, and
// by nobody else. `retained_spare_count_` says so. `worker_count_with_spares_` is how many workers
// and reliefs there are; it only grows.
//
// Why nothing is lost.
//   1. A searcher reads `worker_count_with_spares_` after it has set its bit in the idle map; a
//   relief's thread starts after `worker_count_with_spares_` was
//      written. So a sleeper that has not seen the relief has its bit set before the relief's first
//      push, which reads the idle map: the README's argument for a post, with
//      `worker_count_with_spares_` in the place of the work. All are sequentially consistent. The
//      relief's first fork is public, as each late worker's is
//      (`worker::thread_main`).
//   2. A relief is told to leave while it goes to sleep: it sets its bit, then reads
//   `spare_state_`; the watchdog writes
//      `spare_state_`, then takes the bit. One of the two sees the other.
//   3. A leaving relief pours its queue out by posts, and continues behind its sleep in the middle
//   of the loop: what
//      else it had lies on the stacks of contexts, which stay with the worker that resumes them.
//      And it wakes one, whether it had anything or not: a poster may have chosen it, and no other
//      worker, for work that it has not seen.
//   4. Work that is pushed to a leaving relief's queue comes from the piece of work that it is in.
//   The watchdog counts
//      the relief as it counts any worker, so a stuck one is noticed, and what lies behind it is
//      ready behind a stuck worker (watchdog.cpp).
//   5. A poster of bound work has pushed before it reads `spare_state_`. If it reads `leaving`, the
//   relief makes that
//      `inactive` later, and then looks. If it reads `inactive`, it makes that `notified`, and the
//      relief does not sleep, or is woken. If it reads `notified`, the relief makes that `inactive`
//      later, and then looks. All are sequentially consistent.
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

// True: there is work for this relief, or it is called again. False: the runtime ends.
bool worker::deactivate() noexcept {
    run_queue::batch all;
    if (queue_.take_all(all) != 0) runtime_.injector().push_batch(all);
    if (!SENNIT_MUTANT("wake-up by a spare that deactivates")) runtime_.wake_one();
    const std::uint32_t now = park_epoch_.load_rlx(); // owner's own word
    park_epoch_.store(now + 1);
    const base::atomic<std::uint32_t>& word = spare_state_;
    for (std::uint32_t seen = spare_state_.load();
         seen != spare_state::active && !runtime_.stopping(); seen = spare_state_.load()) {
        if (seen != spare_state::inactive && !spare_state_.cas(seen, spare_state::inactive))
            continue;
        if (pinned_queue_.has_hard_affinity() &&
            !SENNIT_MUTANT("pinned task of a spare that deactivates")) {
            seen = spare_state::inactive; // a worker again, in the sight of all
            while (seen != spare_state::active && !spare_state_.cas(seen, spare_state::leaving)) {
            }
            break;
        }
        base::unregister_this_thread();
        sys::futex_wait(word, spare_state::inactive);
    }
    park_epoch_.store(now + 2);
    return !runtime_.stopping();
}

void worker::notify_inactive() noexcept {
    const base::atomic<std::uint32_t>& word = spare_state_;
    std::uint32_t asleep = spare_state::inactive;
    if (spare_state_.cas(asleep, spare_state::notified)) sys::futex_wake(word, 1);
}

// An inactive relief, a new one, or one that is leaving, in this order; null: the watchdog has
// called as many as it may. `resize` always gets one. Throws what making one throws.
worker* runtime_core::spare_to_activate(bool for_watchdog) {
    const unsigned existing = worker_count_with_spares();
    worker *inactive = nullptr, *leaving = nullptr;
    unsigned called = 0;
    for (unsigned i = worker_count(); i < existing; ++i) {
        worker& one = worker_at(i);
        if (!one.thread_.joinable() || one.is_inactive())
            inactive = inactive ? inactive : &one;
        else if (one.deactivation_requested())
            leaving = leaving ? leaving : &one;
        else
            called += !one.is_retained();
    }
    if (for_watchdog && called >= options_.max_spare_workers) return nullptr;
    if (inactive) return inactive;
    if (existing == worker_capacity()) return leaving;
    if (!first_contexts_[existing]) first_contexts_[existing] = &contexts_.take();
    workers_[existing] = std::make_unique<worker>(*this, existing, worker::kind::spare);
    worker_count_with_spares_.store(existing + 1);
    return workers_[existing].get();
}

// Throws what starting a thread throws.
void runtime_core::start_or_resume_spare(worker& spare) {
    if (spare.thread_.joinable()) {
        const base::atomic<std::uint32_t>& word = spare.spare_state_;
        spare.spare_state_.store(worker::spare_state::active);
        sys::futex_wake(word, 1);
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
    std::lock_guard guard(spares_mutex_); // a dump looks at the crew and its threads
    try {
        worker* one = spare_to_activate(true);
        if (!one) return false;
        spares_activated_.fetch_add(1); // first: what the relief does may be seen at once
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
    spare.spare_state_.store(worker::spare_state::leaving);
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
    const auto registered = registry::lock(); // no look of the watchdog meanwhile
    std::lock_guard guard(spares_mutex_);
    const unsigned wanted = workers - options_.workers;
    while (retained_spare_count_.load_rlx() < wanted) { // written under the lock
        worker& one = *spare_to_activate(false);
        one.retained_.store(1); // first: the watchdog must not send it back
        try {
            start_or_resume_spare(one);
        } catch (...) {
            one.retained_.store(0);
            throw;
        }
        retained_spare_count_.fetch_add(1);
    }
    for (unsigned i = worker_count_with_spares();
         retained_spare_count_.load_rlx() > wanted;) { // written under the lock
        worker& one = worker_at(--i);
        if (!one.is_retained()) continue;
        one.retained_.store(0);
        retained_spare_count_.fetch_sub(1);
        request_deactivation(one);
    }
}

// The runtime ends, and the watchdog calls no relief any more: inactive ones end, too.
void runtime_core::wake_spares_to_end() noexcept {
    for (unsigned i = worker_count(); i < worker_count_with_spares(); ++i) {
        const base::atomic<std::uint32_t>& word = worker_at(i).spare_state_;
        worker_at(i).spare_state_.store(worker::spare_state::active);
        sys::futex_wake(word, 1);
    }
}

} // namespace sennit::sched
