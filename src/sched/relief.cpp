// SPDX-License-Identifier: Apache-2.0
// A relief: a worker behind the last one, that the watchdog calls and sends back.
//
// States (`worker::duty_`):
//
//   state     | the relief                                    | left for
//   active    | works: it sleeps with a bit of its own in the | leaving, by the watchdog or `resize`
//             | idle map, is searched by thieves, keeps timers|
//   leaving   | works, until it comes between two pieces of   | inactive, by the relief
//             | work (`worker::look_outside`, `worker::rest`) |
//   inactive  | has given what lay in its queue to the shared | leaving, by the relief, to run bound work;
//             | queue, and sleeps on this word                | notified, by a poster of bound work
//   notified  | is about to look into its inbox               | inactive, by the relief
//
// Bound work is what only this relief may run.
// The watchdog and `resize` make any state active again. Both write with the registry's lock held.
//
// A leaving relief is a worker in everything. The piece of work that it is in may block its thread, or the last piece
// that it picked may; so the watchdog and thieves look at a relief and its queue until it is inactive, and only then
// not any more.
//
// Nothing is bound to a relief, but mailboxes that had their last turn there are told of new mail by its inbox. Those
// notices may run anywhere: sleepers that watch take them, and so does the watchdog at each look. Where the system has
// come to refuse membarriers (mailbox.hpp), only their owner can help such a mailbox: the poster then notifies the
// relief (`notify_inactive`), which runs what is bound to it before it sleeps.
//
// A runtime that grows (`resize`) hires reliefs: they are called and sent back in the same way, and by nobody else.
// `hired_` says so. `crew_` is how many workers and reliefs there are; it only grows.
//
// Why nothing is lost.
//   1. A searcher reads `crew_` after it has set its bit in the idle map; a relief's thread starts after `crew_` was
//      written. So a sleeper that has not seen the relief has its bit set before the relief's first push, which reads
//      the idle map: the README's argument for a post, with `crew_` in the place of the work. All are sequentially
//      consistent. The relief's first fork is public, as each late worker's is (`worker::thread_main`).
//   2. A relief is told to leave while it goes to sleep: it sets its bit, then reads `duty_`; the watchdog writes
//      `duty_`, then takes the bit. One of the two sees the other.
//   3. A leaving relief pours its queue out by posts, and continues behind its sleep in the middle of the loop: what
//      else it had lies on the stacks of contexts, which stay with the worker that resumes them. And it wakes one,
//      whether it had anything or not: a poster may have chosen it, and no other worker, for work that it has not seen.
//   4. Work that is pushed to a leaving relief's queue comes from the piece of work that it is in. The watchdog counts
//      the relief as it counts any worker, so a stuck one is noticed, and what lies behind it is ready behind a stuck
//      worker (watchdog.cpp).
//   5. A poster of bound work has pushed before it reads `duty_`. If it reads `leaving`, the relief makes that
//      `inactive` later, and then looks. If it reads `inactive`, it makes that `notified`, and the relief does not
//      sleep, or is woken. If it reads `notified`, the relief makes that `inactive` later, and then looks. All are
//      sequentially consistent.
#include "sched/registry.hpp"
#include "sched/runtime_core.hpp"
#include "sched/worker.hpp"
#include "sennit/base/company.hpp"
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
    local_queue::batch all;
    if (queue_.give_all(all) != 0) runtime_.injected().push_batch(all);
    if (!SENNIT_MUTANT("wake-up by who stands down")) runtime_.wake_one();
    const std::uint32_t now = bed_.load_rlx(); // owner's own word
    bed_.store(now + 1);
    const base::atomic<std::uint32_t>& word = duty_;
    for (std::uint32_t seen = duty_.load(); seen != duty::active && !runtime_.stopping(); seen = duty_.load()) {
        if (seen != duty::inactive && !duty_.cas(seen, duty::inactive)) continue;
        if (inbox_.holds_bound() && !SENNIT_MUTANT("errand of who stands down")) {
            seen = duty::inactive; // a worker again, in the sight of all
            while (seen != duty::active && !duty_.cas(seen, duty::leaving)) {
            }
            break;
        }
        base::unregister_this_thread();
        sys::futex_wait(word, duty::inactive);
    }
    bed_.store(now + 2);
    return !runtime_.stopping();
}

void worker::notify_inactive() noexcept {
    const base::atomic<std::uint32_t>& word = duty_;
    std::uint32_t asleep = duty::inactive;
    if (duty_.cas(asleep, duty::notified)) sys::futex_wake(word, 1);
}

// An inactive relief, a new one, or one that is leaving, in this order; null: the watchdog has called as many as it
// may. `resize` always gets one. Throws what making one throws.
worker* runtime_core::relief_to_call(bool for_watchdog) {
    const unsigned crew = crew_size();
    worker *inactive = nullptr, *leaving = nullptr;
    unsigned called = 0;
    for (unsigned i = worker_count(); i < crew; ++i) {
        worker& one = worker_at(i);
        if (!one.thread_.joinable() || one.is_inactive())
            inactive = inactive ? inactive : &one;
        else if (one.told_to_leave())
            leaving = leaving ? leaving : &one;
        else
            called += !one.is_hired();
    }
    if (for_watchdog && called >= options_.watchdog_threads) return nullptr;
    if (inactive) return inactive;
    if (crew == most_crew()) return leaving;
    if (!first_contexts_[crew]) first_contexts_[crew] = &contexts_.take();
    workers_[crew] = std::make_unique<worker>(*this, crew, worker::rank::relief);
    crew_.store(crew + 1);
    return workers_[crew].get();
}

// Throws what starting a thread throws.
void runtime_core::begin_duty(worker& relief) {
    if (relief.thread_.joinable()) {
        const base::atomic<std::uint32_t>& word = relief.duty_;
        relief.duty_.store(worker::duty::active);
        sys::futex_wake(word, 1);
        return;
    }
    running_threads_.fetch_add(1);
    try {
        relief.start();
    } catch (...) {
        running_threads_.fetch_sub(1);
        throw;
    }
}

bool runtime_core::call_relief(bool& refused) noexcept {
    std::lock_guard guard(crew_mutex_); // a dump looks at the crew and its threads
    try {
        worker* one = relief_to_call(true);
        if (!one) return false;
        handed_over_.fetch_add(1); // first: what the relief does may be seen at once
        try {
            begin_duty(*one);
        } catch (...) {
            handed_over_.fetch_sub(1);
            throw;
        }
        return true;
    } catch (const std::exception&) {
        refused = true;
        return false;
    }
}

void runtime_core::end_duty(worker& relief) noexcept {
    relief.duty_.store(worker::duty::leaving);
    wake_worker(relief.index());
}

void runtime_core::send_back(worker& relief) noexcept {
    end_duty(relief);
    taken_back_.fetch_add(1);
}

void runtime_core::resize(unsigned workers) {
    if (workers < options_.workers || workers > options_.most_workers)
        throw std::invalid_argument("sennit: [SNT-014] this runtime may have from " + std::to_string(options_.workers) +
                                    " to " + std::to_string(options_.most_workers) + " workers, not " +
                                    std::to_string(workers) + "; runtime_options::most_workers sets the upper bound");
    const auto registered = registry::lock(); // no look of the watchdog meanwhile
    std::lock_guard guard(crew_mutex_);
    const unsigned wanted = workers - options_.workers;
    while (hired_.load_rlx() < wanted) { // written under the lock
        worker& one = *relief_to_call(false);
        one.hired_.store(1); // first: the watchdog must not send it back
        try {
            begin_duty(one);
        } catch (...) {
            one.hired_.store(0);
            throw;
        }
        hired_.fetch_add(1);
    }
    for (unsigned i = crew_size(); hired_.load_rlx() > wanted;) { // written under the lock
        worker& one = worker_at(--i);
        if (!one.is_hired()) continue;
        one.hired_.store(0);
        hired_.fetch_sub(1);
        end_duty(one);
    }
}

// The runtime ends, and the watchdog calls no relief any more: inactive ones end, too.
void runtime_core::call_reliefs_to_end() noexcept {
    for (unsigned i = worker_count(); i < crew_size(); ++i) {
        const base::atomic<std::uint32_t>& word = worker_at(i).duty_;
        worker_at(i).duty_.store(worker::duty::active);
        sys::futex_wake(word, 1);
    }
}

} // namespace sennit::sched
