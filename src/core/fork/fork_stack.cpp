// SPDX-License-Identifier: Apache-2.0
// The owner's slow half of the fork stack: publish and take back.
// sennit/detail/core/fork_stack.hpp has the protocol and its argument.
//
// Which threads run this: the owner's worker. steal_fork.cpp has the thief's half. Tested by
// tests/unit/core/fork_stack_test.cpp and tests/stress.
#include "sennit/detail/core/fork_stack.hpp"

#include "core/fork/advance_split.hpp"
#include "core/fork/fork_claim.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"

#include <mutex>

namespace sennit::sched {

void push_fork_slow() noexcept {
    if (worker* me = this_worker()) [[likely]]
        return me->publish_on_request();
    // At a checkpoint: a thief has sent its request to a guest that has left.
    sys::tls().steal_requested.store_rlx(0); // Orders nothing: no thief waits for an answer.
}

bool searcher_waits() noexcept {
    return SENNIT_MUTANT("a kept turn needs a searcher") ||
           (sys::barrier_available() && this_worker()->runtime().has_searcher());
}

bool pop_fork_slow(fork_slot* slot) noexcept {
    worker& me = *this_worker();
    if (me.take_back(slot)) return true;
    if (me.has_guest()) me.wait_as_guest(*slot);
    slot->done.wait("a stolen child");
    base::annotate_read(slot);
    return false;
}

// Answers a steal request: the older half of the private slots becomes public. The oldest slots
// hold the largest tasks.
void worker::publish_on_request() noexcept {
    if (idle_.waits_for_woken()) return;            // The request stays pending.
    sys::worker_tls& tls = *thread_.tls.load_rlx(); // The own thread wrote thread_.tls.
    context& self = this->self();
    const std::uint32_t head = self.number_of(tls.head.load_rlx()); // Owner's own word.
    const fork_range now = fork_range::of(self.forks.load());
    // A checkpoint with nothing to offer: the request stays pending.
    if (now.empty() && head <= now.split) return;
    if (eager_pushes_ != 0 && --eager_pushes_ != 0) {
        if (!now.empty()) return; // The request stays, so the thieves' next look needs no answer.
    } else {
        tls.steal_requested.store(0);
    }
    bool several = false;
    {
        std::lock_guard guard(self.lock);
        // The lock orders it: thieves claim under the lock.
        if (is_claim(tls.split.load_rlx())) publish_eagerly(tls);
        const fork_range range = fork_range::of(self.forks.load());
        std::uint32_t split = range.split;
        if (range.empty() && head > split) {
            split += (head - split + 1) / 2;
            advance_split(self, split);
            counted.published.add(split - range.split);
            several = head - range.split > 1;
        }
        tls.split.store(self.slot(split)); // Also ends a thief's claim.
    }
    // The woken worker would end the exclusive mode by a barrier.
    if (runtime_.idle().any(runtime_.worker_capacity())) base::leave_exclusive_mode();
    runtime_.wake_one_unproven(); // Forks that are pushed next may stay private.
    if (several) runtime_.wake_searcher();
}

// A thief had to force publication on this worker, whose thread computes for long without a fork or
// has lost its processor. It may do so again, so the worker acts for a while as if each push found
// a request: publication by the owner costs much less than a barrier of all threads. Each stolen
// fork extends that while.
void worker::publish_eagerly(sys::worker_tls& tls) noexcept {
    eager_pushes_ = tuning::eager_pushes;
    tls.steal_requested.store(1);
}

// The next pushes find a request, and look whether the woken worker has begun (waits_for_woken).
waker_note worker::leave_waker_note(worker& woken) noexcept {
    const waker_note left =
        idle_.leave_waker_note(&woken.runtime_ == &runtime_ ? &woken.parker() : nullptr);
    if (left.processor != waker_note::no_processor)
        thread_.tls.load_rlx()->steal_requested.store(1); // The own thread wrote thread_.tls.
    return left;
}

// Runs before the context leaves its worker: all its forks stay visible to thieves.
void worker::publish_rest(context& self) noexcept {
    sys::worker_tls& tls = *thread_.tls.load_rlx(); // The own thread wrote thread_.tls.
    const std::uint32_t head = self.number_of(tls.head.load_rlx()); // Owner's own word.
    const fork_range before = fork_range::of(self.forks.load());
    if (before.empty() && before.split >= head) return; // Every unjoined fork is stolen already.
    if (before.split < head) {
        std::lock_guard guard(self.lock);
        const std::uint32_t split = fork_range::of(self.forks.load()).split;
        advance_split(self, head);
        counted.published.add(head - split);
        tls.split.store(self.slot(head));
    }
    runtime_.register_stealable(self, affinity());
    runtime_.wake_one();
}

// Returns true if `slot`, the newest one, belongs to the owner again. False: it was stolen, and
// with it every older slot.
bool worker::take_back(fork_slot* slot) noexcept {
    sys::worker_tls& tls = *thread_.tls.load_rlx(); // The own thread wrote thread_.tls.
    context& self = this->self();
    const std::uint32_t number = self.number_of(slot);
    std::lock_guard guard(self.lock);
    const bool forced = is_claim(tls.split.load_rlx()); // The lock orders it.
    std::uint64_t seen = self.forks.load();
    for (;;) {
        const fork_range range = fork_range::of(seen);
        if (number >= range.split) { // The slot is private: only a claim made this call necessary.
            tls.split.store(self.slot(range.split));
            return true;
        }
        if (range.empty()) break;
        const std::uint32_t split = range.split - (range.size() + 1) / 2;
        if (self.forks.cas(seen, fork_range{range.top, split}.word())) {
            counted.reclaimed.add(range.split - split);
            tls.split.store(self.slot(split));
            if (forced) publish_eagerly(tls);
            return true;
        }
    }
    if (forced || eager_pushes_ != 0) publish_eagerly(tls);
    // No thief takes from an empty range, so a store is enough. Slots from `number` on are free
    // again once joined.
    self.forks.store(fork_range{number, number}.word());
    tls.split.store(self.slot(number));
    return false;
}

} // namespace sennit::sched
