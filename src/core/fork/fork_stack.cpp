// SPDX-License-Identifier: Apache-2.0
// The slow halves of the fork stack: publish, take back, steal, force. Protocol and argument:
// sennit/detail/core/fork_stack.hpp.
//
// Which threads run this: `publish…` and `take_back` the owner's worker; `steal…` and `force…` a
// thief's. Tested by tests/unit/core/fork_stack_test.cpp and tests/stress.
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

// Makes [from, to) ready to be stolen: whoever finishes such a slot reports to its `done`.
void reset_done(context& owner, std::uint32_t from, std::uint32_t to) noexcept {
    for (std::uint32_t i = from; i < to; ++i) std::construct_at(&owner.slot(i)->done);
}

// Advances `split` to `to` under the owner's lock. Thieves may advance `top` meanwhile.
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

// A thief asked. The older half of the private slots goes public: the oldest are the largest pieces
// of work.
void worker::publish_on_request() noexcept {
    sys::worker_tls& tls = *tls_.load_rlx(); // own thread wrote it
    context& self = this->self();
    const std::uint32_t head = self.number_of(tls.head.load_rlx()); // owner's own word
    const fork_range now = fork_range::of(self.forks.load());
    if (now.empty() && head <= now.split)
        return; // a checkpoint with nothing to offer: the request stands
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
        tls.split.store(self.slot(split)); // also ends a thief's claim
    }
    runtime_.wake_one();
}

// Before the context leaves its worker: everything it forked stays visible to thieves.
void worker::publish_rest(context& self) noexcept {
    sys::worker_tls& tls = *tls_.load_rlx();                        // own thread wrote it
    const std::uint32_t head = self.number_of(tls.head.load_rlx()); // owner's own word
    const fork_range before = fork_range::of(self.forks.load());
    if (before.empty() && before.split >= head)
        return; // nothing forked and not joined that is not stolen already
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

// True: `slot`, the newest one, is the owner's again. False: it was stolen, and with it everything
// older.
bool worker::take_back(fork_slot* slot) noexcept {
    sys::worker_tls& tls = *tls_.load_rlx(); // own thread wrote it
    context& self = this->self();
    const std::uint32_t number = self.number_of(slot);
    std::lock_guard guard(self.lock);
    std::uint64_t seen = self.forks.load();
    for (;;) {
        const fork_range range = fork_range::of(seen);
        if (number >= range.split) { // private: only a claim sent us here
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
    // Nobody takes from an empty range, so a store is enough; slots from `number` on are free again
    // once joined.
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
            // The next thief shall find something: ask now instead of when it has come in vain.
            for (unsigned i = 0; i < runtime_.worker_count_with_spares(); ++i)
                if (runtime_.worker_at(i).running() == &victim)
                    runtime_.worker_at(i).request_share();
        }
        if (!SENNIT_MUTANT("wake-up by a thief"))
            runtime_.wake_one(); // we stop searching: somebody else shall, or private forks in a
                                 // long leaf stay unseen
        run_stolen(*victim.slot(range.top));
        return true;
    }
}

void worker::run_stolen(fork_slot& slot) noexcept {
    base::annotate_read(&slot);
    tracing::emit(trace_kind::steals, nullptr, "a fork");
    stress_one_in(2); // the owner may come to its join first
    bool failed = false;
    {
        strand_frame child;
        failed = slot.run(&slot); // may suspend, and go on in another worker
    }
    base::annotate_write(&slot); // the result
    waiter* parent = slot.done.finish_and_take_waiter(failed);
    if (!parent) return;
    worker& here = *this_worker();
    if (parent->parked && &parent->parked->runtime == &here.runtime() &&
        here.is_local(*parent->parked))
        here.resume_next_ = parent->parked; // directly: its data is in this worker's cache
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

// A suspended context whose forks this worker may run.
context* worker::find_stealable_context() noexcept {
    return runtime_.find_stealable_context(steals_ ? 0 : affinity());
}

bool worker::steal_fork_from_suspended() noexcept {
    while (context* suspended = find_stealable_context())
        if (steal_fork_from(*suspended)) return true;
    return false;
}

// Step 4 of the protocol. True when the victim's context has public slots afterwards.
bool worker::force_publication(worker& victim) noexcept {
    context* target = victim.running();
    sys::worker_tls* tls = victim.tls_.load_rlx(); // pairs through running(), which has acquired it
    if (!target || !tls || !sys::barrier_available()) return false;
    const auto private_slots = [&] {
        const auto* head =
            static_cast<const fork_slot*>(tls->head.load_acq()); // pairs with tls_set_head
        const bool ours = head >= target->fork_base() && head < target->fork_end;
        const std::uint32_t split = fork_range::of(target->forks.load()).split;
        return ours && target->number_of(head) > split ? target->number_of(head) - split : 0;
    };
    if (private_slots() == 0)
        return false; // a guess, but it keeps idle workers from disturbing busy ones
    // Every slot is older, so each pop takes the slow way; and ours alone, so that we know whether
    // it still stands.
    void* const claim =
        reinterpret_cast<void*>(~std::uintptr_t{index_}); // SAFETY: compared, never followed
    std::lock_guard guard(target->lock);
    tls->split.store(claim);
    if (!sys::barrier_all_threads()) return false; // the claim costs the owner one slow pop
    const std::uint32_t count = private_slots();
    // Looked at last: while it stands, the victim has not moved to another context since we made
    // it, so what we counted is the target's; and from the barrier on the owner can neither pop it
    // nor leave it without our lock. (A claim that all thieves share, or a look before counting, is
    // not enough: models/split.pml.)
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
