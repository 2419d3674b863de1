// SPDX-License-Identifier: Apache-2.0
// A relief: a worker behind the last one, that the watchdog calls and sends back.
//
// On duty it is a worker in everything: it sleeps with a bit of its own in the idle map, is searched by thieves, keeps
// timers. Sent back, it stands down between two pieces of work (`worker::look_outside`, `worker::rest`): it gives what
// lies in its queue to all, then waits for its word. What is left behind it then is its inbox: nothing is bound to a
// relief, but mailboxes that had their last turn there are told of new mail by it. Those notices may run anywhere:
// sleepers that watch take them, and so does the watchdog at each look. Where the system has come to refuse membarriers
// (mailbox.hpp), only their owner can help such a mailbox: whoever posts that rings, and the relief, standing down,
// runs what is bound to it before it waits.
//
// A runtime that grows (`resize`) hires reliefs: they are called and sent back in the same way, and by nobody else.
//
// State: `on_duty_` (1; 0: sent back; 2: sent back, and rung for) and `hired_`, written by the watchdog and by
// `resize`, with the registry's lock held, but for the steps from 0 to 2 and back; `crew_`, how many workers and
// reliefs there are, which only grows.
//
// Why nothing is lost.
//   1. Who searches reads `crew_` after it has set its bit in the idle map; a relief's thread starts after `crew_` was
//      written. So a sleeper that has not seen the relief has its bit set before the relief's first push, which reads
//      the idle map: the README's argument for a post, with `crew_` in the place of the work. All are sequentially
//      consistent. The relief's first fork is public, as each late worker's is (`worker::thread_main`).
//   2. Sent back while it goes to bed: it sets its bit, then reads `on_duty_`; the watchdog writes `on_duty_`, then
//      takes the bit. One of the two sees the other.
//   3. It pours its queue out by posts, and goes on from the sleep in the middle of the loop: what it has in hand lies
//      on other contexts' stacks, which stay with whoever resumes them. And it wakes one, whether it had anything or
//      not: somebody may have chosen it, and nobody else, for work that it has not looked at.
//   4. Who rings has pushed before. Finding 0 it makes that 2, and the relief does not sleep, or is woken; finding 2,
//      whoever made it so has the relief look, behind this push if it looks before the 2 is gone, and it makes that 0
//      first; finding 1, the relief reads 0 or 2 later, and then looks. All are sequentially consistent.
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

// True: on duty again. False: the runtime ends.
bool worker::stand_down() noexcept {
    local_queue::list all;
    if (const std::uint32_t count = queue_.give_all(all); count != 0) runtime_.injected().push_all(all, count);
    if (!SENNIT_MUTANT("wake-up by who stands down")) runtime_.wake_one();
    const std::uint32_t now = bed_.load_rlx(); // owner's own word
    bed_.store(now + 1);
    const base::atomic<std::uint32_t>& word = on_duty_;
    while (stands_down() && !runtime_.stopping()) {
        std::uint32_t rung = 2;
        (void)on_duty_.cas(rung, 0);
        if (inbox_.holds_bound() && !SENNIT_MUTANT("errand of who stands down")) break;
        base::leave_company();
        sys::futex_wait(word, 0);
    }
    bed_.store(now + 2);
    return !runtime_.stopping();
}

void worker::ring() noexcept {
    const base::atomic<std::uint32_t>& word = on_duty_;
    std::uint32_t sent_back = 0;
    if (on_duty_.cas(sent_back, 2)) sys::futex_wake(word, 1);
}

// One that stands down, or a new one; null: the watchdog has called as many as it may. Throws what making one throws.
worker* runtime_core::relief_to_call(bool for_watchdog) {
    const unsigned crew = crew_size();
    worker* found = nullptr;
    unsigned called = 0;
    for (unsigned i = worker_count(); i < crew; ++i) {
        worker& one = worker_at(i);
        if (one.thread_.joinable() && !one.stands_down())
            called += !one.is_hired();
        else if (!found)
            found = &one;
    }
    if (for_watchdog && called >= options_.watchdog_threads) return nullptr;
    if (found) return found;
    if (crew == most_crew()) return nullptr;
    if (!first_contexts_[crew]) first_contexts_[crew] = &contexts_.take();
    workers_[crew] = std::make_unique<worker>(*this, crew, worker::rank::relief);
    crew_.store(crew + 1);
    return workers_[crew].get();
}

// Throws what starting a thread throws.
void runtime_core::begin_duty(worker& relief) {
    if (relief.thread_.joinable()) {
        const base::atomic<std::uint32_t>& word = relief.on_duty_;
        relief.on_duty_.store(1);
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
    relief.on_duty_.store(0);
    wake_worker(relief.index());
}

void runtime_core::send_back(worker& relief) noexcept {
    end_duty(relief);
    taken_back_.fetch_add(1);
}

void runtime_core::resize(unsigned workers) {
    if (workers < options_.workers || workers > options_.most_workers)
        throw std::invalid_argument("sennit: this runtime may have from " + std::to_string(options_.workers) + " to " +
                                    std::to_string(options_.most_workers) + " workers, not " + std::to_string(workers));
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

// The runtime ends, and the watchdog calls nobody any more: who stands down ends, too.
void runtime_core::call_reliefs_to_end() noexcept {
    for (unsigned i = worker_count(); i < crew_size(); ++i) {
        const base::atomic<std::uint32_t>& word = worker_at(i).on_duty_;
        worker_at(i).on_duty_.store(1);
        sys::futex_wake(word, 1);
    }
}

} // namespace sennit::sched
