// SPDX-License-Identifier: Apache-2.0
// The thief's half of the fork stack: steal a public fork, force publication of private ones.
// sennit/detail/core/fork_stack.hpp has the protocol and its argument.
//
// Which threads run this: the thief's own thread. fork_stack.cpp has the owner's half. Tested by
// tests/unit/core/fork_stack_test.cpp, tests/stress and the explorer's group `fork_stack`.
#include "core/diagnostics/tracing.hpp"
#include "core/fork/advance_split.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/thief.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/detached_fork.hpp"
#include "sennit/detail/core/fork_stack.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"

#include <mutex>

namespace sennit::sched {

namespace {
// The number of private slots of `target`, the context that runs on the worker with the hot line
// `tls`.
std::uint32_t private_slots(const context& target, const sys::worker_tls& tls) noexcept {
    // pairs with tls_set_head
    const auto* head = static_cast<const fork_slot*>(tls.head.load_acq());
    const bool ours = head >= target.fork_base() && head < target.fork_end;
    const std::uint32_t split = fork_range::of(target.forks.load()).split;
    return ours && target.number_of(head) > split ? target.number_of(head) - split : 0;
}

bool seems_to_have_private_forks(const worker& one) noexcept {
    const context* target = one.running();
    const sys::worker_tls* tls = one.tls(); // Pairs through running(), which has acquired it.
    return target && tls && private_slots(*target, *tls) != 0;
}

} // namespace

// `owner`: the worker that runs the context; null if the context is suspended.
bool thief::steal_fork_from(context& victim, worker* owner) noexcept {
    std::uint64_t seen = victim.forks.load();
    for (;;) {
        const fork_range range = fork_range::of(seen);
        if (range.empty()) return false;
        if (!victim.forks.cas(seen, fork_range{range.top + 1, range.split}.word())) continue;
        me_.counted.steals.add();
        // The next thief needs a public fork: send the request now instead of after a search
        // without result.
        if (range.size() == 1 && owner) owner->request_share();
        me_.hand_over_search();
        // This worker stops searching. Another worker must search, or private forks in a long leaf
        // stay unseen. Where there are forks for it, the workers wake each other as a tree.
        const bool more = range.size() > 1 || (owner && seems_to_have_private_forks(*owner));
        if (!SENNIT_MUTANT("wake-up by a thief"))
            more ? me_.runtime().wake_searcher() : me_.runtime().wake_one();
        run_stolen(*victim.slot(range.top));
        return true;
    }
}

void thief::run_stolen(fork_slot& slot) noexcept {
    base::annotate_read(&slot);
    tracing::emit(trace_kind::steals, nullptr, "a fork");
    me_.stress_one_in(2); // The owner may come to its join first.
    if (slot.run == &detached_mark) return run_stolen_detached(slot);
    bool failed = false;
    {
        strand_frame child;
        failed = slot.run(&slot); // May suspend, and continue on another worker.
    }
    base::annotate_write(&slot); // The slot holds the result.
    waiter* parent = slot.done.finish_and_take_waiter(failed);
    if (!parent) return;
    worker& here = *this_worker();
    resumable* const next = parent->parked;
    if (next && next->run == &context::resume_ready && &next->runtime == &here.runtime() &&
        here.is_local(*next))
        // Resumed directly: its data is in this worker's cache.
        here.resume_next(static_cast<context&>(*next));
    else
        wake(*parent);
}

// The steps of detached_fork.hpp.
void thief::run_stolen_detached(fork_slot& slot) noexcept {
    detached_fork own = slot.as<detached_fork>();
    if (!SENNIT_MUTANT("count of stolen detached work")) own.type->begin(own); // T1
    slot.done.finish();                                                        // T2
    strand_frame child;
    own.type->run(own); // T3; may suspend, and continue on another worker.
}

bool thief::steal_fork() noexcept {
    if (!me_.steals()) return steal_fork_from_suspended();
    const unsigned n = me_.runtime().worker_count_with_spares();
    const unsigned start = me_.random_below(n);
    for (unsigned i = 0; i < n; ++i) {
        worker& victim = me_.runtime().worker_at((start + i) % n);
        if (&victim == &me_) continue;
        context* target = victim.running();
        if (!target) continue;
        if (steal_fork_from(*target, &victim)) return true;
        victim.request_share();
    }
    return steal_fork_from_suspended();
}

context* thief::find_stealable_context() const noexcept {
    return me_.runtime().find_stealable_context(me_.steals() ? 0 : me_.affinity());
}

bool thief::steal_fork_from_suspended() noexcept {
    while (context* suspended = find_stealable_context())
        if (steal_fork_from(*suspended, nullptr)) return true;
    return false;
}

bool thief::sees_private_forks() const noexcept {
    for (unsigned i = 0; i < me_.runtime().worker_count_with_spares(); ++i)
        if (worker& other = me_.runtime().worker_at(i);
            &other != &me_ && seems_to_have_private_forks(other))
            return true;
    return false;
}

// Step 4 of the fork stack's protocol. Returns true if the victim's context has public slots
// afterwards.
bool thief::force_publication(worker& victim) noexcept {
    context* target = victim.running();
    sys::worker_tls* tls = victim.tls(); // Pairs through running(), which has acquired it.
    if (!target || !tls || !sys::barrier_available()) return false;
    // A guess, but it keeps idle workers from disturbing busy ones.
    if (private_slots(*target, *tls) == 0) return false;
    // Every slot is older than the claim, so each pop takes the slow path. The claim's value is
    // this thief's alone, so the thief knows whether its claim still stands.
    // SAFETY: compared, never followed
    void* const claim = reinterpret_cast<void*>(~std::uintptr_t{me_.index()});
    std::lock_guard guard(target->lock);
    if (private_slots(*target, *tls) == 0) return false; // Another thief has forced them meanwhile.
    tls->split.store(claim);
    if (!sys::barrier_all_threads()) return false; // The claim costs the owner one slow pop.
    const std::uint32_t count = private_slots(*target, *tls);
    // The claim is read last. While it stands, the victim has not switched to another context since
    // the claim was made, so the counted slots are the target's. From the barrier on, the owner can
    // neither pop these slots nor leave them without the lock. (A claim value that all thieves
    // share, or a check before counting, is not enough: models/split.pml.)
    if (count == 0 || victim.running() != target || tls->split.load() != claim) return false;
    const std::uint32_t split = fork_range::of(target->forks.load()).split;
    advance_split(*target, split + (count + 1) / 2);
    me_.counted.forced.add();
    me_.counted.published.add((count + 1) / 2);
    return true;
}

bool thief::force_publication_of_any() noexcept {
    if (!me_.steals()) return false;
    const unsigned n = me_.runtime().worker_count_with_spares();
    for (unsigned i = 1; i < n; ++i) // Each thief begins at another victim.
        if (force_publication(me_.runtime().worker_at((me_.index() + i) % n))) return true;
    return false;
}

bool thief::force_publication_of_all() noexcept {
    bool forced = false;
    if (!me_.steals()) return false;
    for (unsigned i = 0; i < me_.runtime().worker_count_with_spares(); ++i)
        if (worker& victim = me_.runtime().worker_at(i); &victim != &me_)
            forced |= force_publication(victim);
    return forced;
}

} // namespace sennit::sched
