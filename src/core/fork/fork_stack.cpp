// SPDX-License-Identifier: Apache-2.0
// The slow halves of the fork stack: publish, take back, steal, force.
// sennit/detail/core/fork_stack.hpp has the protocol and its argument.
//
// Which threads run this: `publish...` and `take_back` run on the owner's worker; `steal...` and
// `force...` run on a thief. Tested by tests/unit/core/fork_stack_test.cpp and tests/stress.
#include "sennit/detail/core/fork_stack.hpp"

#include "core/diagnostics/tracing.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/check.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"

#include <mutex>

namespace sennit::sched {

namespace {

// Prepares [from, to) for thieves: the thread that finishes such a slot reports to its `done`.
void reset_done(context& owner, std::uint32_t from, std::uint32_t to) noexcept {
    for (std::uint32_t i = from; i < to; ++i) std::construct_at(&owner.slot(i)->done);
}

// Advances `split` to `to`, under the owner's lock. Thieves may advance `top` meanwhile.
void advance_split(context& owner, std::uint32_t to) noexcept {
    std::uint64_t seen = owner.forks.load();
    reset_done(owner, fork_range::of(seen).split, to);
    while (!owner.forks.cas(seen, fork_range{fork_range::of(seen).top, to}.word())) {
    }
}

} // namespace

void push_fork_slow() noexcept {
    this_worker()->publish_on_request();
}

bool pop_fork_slow(fork_slot* slot) noexcept {
    if (this_worker()->take_back(slot)) return true;
    slot->done.wait("a stolen child");
    base::annotate_read(slot);
    return false;
}

// Answers a steal request: the older half of the private slots becomes public. The oldest slots
// hold the largest tasks.
void worker::publish_on_request() noexcept {
    sys::worker_tls& tls = *tls_.load_rlx(); // The own thread wrote tls_.
    context& self = this->self();
    const std::uint32_t head = self.number_of(tls.head.load_rlx()); // Owner's own word.
    const fork_range now = fork_range::of(self.forks.load());
    // A checkpoint with nothing to offer: the request stays pending.
    if (now.empty() && head <= now.split) return;
    tls.steal_requested.store(0);
    {
        std::lock_guard guard(self.lock);
        const fork_range range = fork_range::of(self.forks.load());
        std::uint32_t split = range.split;
        if (range.empty() && head > split) {
            split += (head - split + 1) / 2;
            advance_split(self, split);
            counted.published.add(split - range.split);
        }
        tls.split.store(self.slot(split)); // Also ends a thief's claim.
    }
    runtime_.wake_one();
}

// Runs before the context leaves its worker: all its forks stay visible to thieves.
void worker::publish_rest(context& self) noexcept {
    sys::worker_tls& tls = *tls_.load_rlx();                        // The own thread wrote tls_.
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
    sys::worker_tls& tls = *tls_.load_rlx(); // The own thread wrote tls_.
    context& self = this->self();
    const std::uint32_t number = self.number_of(slot);
    std::lock_guard guard(self.lock);
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
            return true;
        }
    }
    // No thief takes from an empty range, so a store is enough. Slots from `number` on are free
    // again once joined.
    self.forks.store(fork_range{number, number}.word());
    tls.split.store(self.slot(number));
    return false;
}

bool worker::steal_fork_from(context& victim) noexcept {
    std::uint64_t seen = victim.forks.load();
    for (;;) {
        const fork_range range = fork_range::of(seen);
        if (range.empty()) return false;
        if (!victim.forks.cas(seen, fork_range{range.top + 1, range.split}.word())) continue;
        counted.steals.add();
        if (range.size() == 1) {
            // The next thief needs a public fork: send the request now instead of after a search
            // without result.
            for (unsigned i = 0; i < runtime_.worker_count_with_spares(); ++i)
                if (runtime_.worker_at(i).running() == &victim)
                    runtime_.worker_at(i).request_share();
        }
        if (!SENNIT_MUTANT("wake-up by a thief"))
            // This worker stops searching. Another worker must search, or private forks in a long
            // leaf stay unseen.
            runtime_.wake_one();
        run_stolen(*victim.slot(range.top));
        return true;
    }
}

void worker::run_stolen(fork_slot& slot) noexcept {
    base::annotate_read(&slot);
    tracing::emit(trace_kind::steals, nullptr, "a fork");
    stress_one_in(2); // The owner may come to its join first.
    bool failed = false;
    {
        strand_frame child;
        failed = slot.run(&slot); // May suspend, and continue on another worker.
    }
    base::annotate_write(&slot); // The slot holds the result.
    waiter* parent = slot.done.finish_and_take_waiter(failed);
    if (!parent) return;
    worker& here = *this_worker();
    if (parent->parked && &parent->parked->runtime == &here.runtime() &&
        here.is_local(*parent->parked))
        here.resume_next_ = parent->parked; // Resumed directly: its data is in this worker's cache.
    else
        wake(*parent);
}

bool worker::steal_fork() noexcept {
    if (!steals_) return steal_fork_from_suspended();
    const unsigned n = runtime_.worker_count_with_spares();
    const unsigned start = random_.below(n);
    for (unsigned i = 0; i < n; ++i) {
        worker& victim = runtime_.worker_at((start + i) % n);
        if (&victim == this) continue;
        context* target = victim.running();
        if (!target) continue;
        if (steal_fork_from(*target)) return true;
        victim.request_share();
    }
    return steal_fork_from_suspended();
}

// Returns a suspended context with public forks that this worker may run; null if there is none.
context* worker::find_stealable_context() noexcept {
    return runtime_.find_stealable_context(steals_ ? 0 : affinity());
}

bool worker::steal_fork_from_suspended() noexcept {
    while (context* suspended = find_stealable_context())
        if (steal_fork_from(*suspended)) return true;
    return false;
}

// Step 4 of the fork stack's protocol. Returns true if the victim's context has public slots
// afterwards.
bool worker::force_publication(worker& victim) noexcept {
    context* target = victim.running();
    sys::worker_tls* tls =
        victim.tls_.load_rlx(); // Pairs through running(), which has acquired it.
    if (!target || !tls || !sys::barrier_available()) return false;
    const auto private_slots = [&] {
        // pairs with tls_set_head
        const auto* head = static_cast<const fork_slot*>(tls->head.load_acq());
        const bool ours = head >= target->fork_base() && head < target->fork_end;
        const std::uint32_t split = fork_range::of(target->forks.load()).split;
        return ours && target->number_of(head) > split ? target->number_of(head) - split : 0;
    };
    // A guess, but it keeps idle workers from disturbing busy ones.
    if (private_slots() == 0) return false;
    // Every slot is older than the claim, so each pop takes the slow path. The claim's value is
    // this thief's alone, so the thief knows whether its claim still stands.
    // SAFETY: compared, never followed
    void* const claim = reinterpret_cast<void*>(~std::uintptr_t{index_});
    std::lock_guard guard(target->lock);
    tls->split.store(claim);
    if (!sys::barrier_all_threads()) return false; // The claim costs the owner one slow pop.
    const std::uint32_t count = private_slots();
    // The claim is read last. While it stands, the victim has not switched to another context since
    // the claim was made, so the counted slots are the target's. From the barrier on, the owner can
    // neither pop these slots nor leave them without the lock. (A claim value that all thieves
    // share, or a check before counting, is not enough: models/split.pml.)
    if (count == 0 || victim.running() != target || tls->split.load() != claim) return false;
    const std::uint32_t split = fork_range::of(target->forks.load()).split;
    advance_split(*target, split + (count + 1) / 2);
    counted.forced.add();
    counted.published.add((count + 1) / 2);
    return true;
}

bool worker::force_somebody() noexcept {
    bool forced = false;
    if (!steals_) return false;
    for (unsigned i = 0; i < runtime_.worker_count_with_spares(); ++i)
        if (worker& victim = runtime_.worker_at(i); &victim != this)
            forced |= force_publication(victim);
    return forced;
}

} // namespace sennit::sched
