// SPDX-License-Identifier: Apache-2.0
// The thief's half of the fork stack: steal a public fork, force publication of private ones.
// sennit/detail/core/fork_stack.hpp has the protocol and its argument.
//
// Which threads run this: the thief's own thread. fork_stack.cpp has the owner's half. Tested by
// tests/unit/core/fork_stack_test.cpp, tests/stress and the explorer's group `fork_stack`.
#include "core/diagnostics/tracing.hpp"
#include "core/fork/advance_split.hpp"
#include "core/fork/fork_claim.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/thief.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/detached_fork.hpp"
#include "sennit/detail/core/fork_stack.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"

#include <array>
#include <memory>
#include <new>

namespace sennit::sched {

static_assert(worker_limit <= claim_limit);

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

// Takes the oldest public fork of `victim`; null: there is none. `owner`: the worker that runs the
// context; null if the context is suspended.
fork_slot* thief::take_fork_from(context& victim, worker* owner) noexcept {
    std::uint64_t seen = victim.forks.load();
    for (;;) {
        const fork_range range = fork_range::of(seen);
        if (range.empty()) return nullptr;
        if (!victim.forks.cas(seen, fork_range{range.top + 1, range.split}.word())) continue;
        me_.counted.steals.add();
        if (owner && me_.runtime().domains().several() &&
            !me_.runtime().domains().near(me_.index(), owner->index()))
            me_.counted.far_steals.add();
        // The next thief needs a public fork: send the request now instead of after a search
        // without result.
        if (range.size() == 1 && owner) owner->request_share(me_);
        me_.hand_over_search();
        // This worker stops searching. Another worker must search, or private forks in a long leaf
        // stay unseen. Where there are forks for it, the workers wake each other as a tree.
        const bool more = range.size() > 1 || (owner && seems_to_have_private_forks(*owner));
        if (!SENNIT_MUTANT("wake-up by a thief"))
            more ? me_.runtime().wake_searcher() : me_.runtime().wake_one();
        return victim.slot(range.top);
    }
}

bool thief::steal_fork_from(context& victim, worker* owner) noexcept {
    fork_slot* const taken = take_fork_from(victim, owner);
    if (taken) run_stolen(*taken);
    return taken != nullptr;
}

// As long as a context runs `child`, it has no forks but those of the child and of the child's
// descendants. So if the child has not ended after the theft, the fork is one of these. Otherwise
// the context may have gone on to anything, and a worker runs the fork.
bool thief::steal_fork_of_child(const fork_slot& child) noexcept {
    for (unsigned i = 0, all = me_.runtime().worker_count_with_spares(); i < all; ++i) {
        worker& victim = me_.runtime().worker_at(i);
        context* const target = victim.running();
        // Orders nothing: only compared. The CAS on `forks` orders the access to the fork.
        if (!target || target->stolen.load_rlx() != &child) continue;
        fork_slot* const taken = take_fork_from(*target, &victim);
        if (!taken) {
            victim.request_share(me_);
            return false;
        }
        if (child.done.finished() && !SENNIT_MUTANT("a fork of unknown origin goes to a worker"))
            leave_to_worker(*taken);
        else
            run_stolen(*taken);
        return true;
    }
    return false;
}

void thief::leave_to_worker(fork_slot& taken) noexcept {
    struct errand : runnable {
        explicit errand(fork_slot& which) noexcept
            : runnable([](runnable* self) noexcept {
                  const std::unique_ptr<errand> me(static_cast<errand*>(self));
                  this_worker()->stealing().run_stolen(me->slot);
              }),
              slot(which) {}
        fork_slot& slot;
    };
    if (auto* const what = new (std::nothrow) errand(taken))
        me_.runtime().post(*what);
    else
        run_stolen(taken);
}

void thief::run_stolen(fork_slot& slot) noexcept {
    base::annotate_read(&slot);
    tracing::emit(trace_kind::steals, nullptr, "a fork");
    me_.stress_one_in(2); // The owner may come to its join first.
    if (slot.run == &detached_mark) return run_stolen_detached(slot);
    bool failed = false;
    {
        strand_frame child;
        context& here = me_.self();
        fork_slot* const outer = here.stolen.load_rlx(); // Owner's own word.
        here.stolen.store_rlx(&slot);                    // Orders nothing: only compared.
        failed = slot.run(&slot);     // May suspend, and continue on another worker.
        here.stolen.store_rlx(outer); // Published by the end of the slot.
    }
    base::annotate_write(&slot); // The slot holds the result.
    waiter* parent = slot.done.finish_and_take_waiter(failed);
    if (!parent) return;
    worker& here = *this_worker();
    resumable* const next = parent->parked;
    if (next && next->run == &context::resume_ready && &next->runtime == &here.runtime() &&
        here.is_local(*next) && here.can_resume_next())
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

// Looks at a running context. Returns true if the thief has run a fork of it.
bool thief::steal_fork_of_worker(worker& victim) noexcept {
    context* target = victim.running();
    if (!target) return false;
    if (steal_fork_from(*target, &victim)) return true;
    victim.request_share(me_);
    return false;
}

bool thief::steal_fork_by_distance() noexcept {
    runtime_core& all = me_.runtime();
    const unsigned n = all.worker_count_with_spares();
    return all.domains().visit(me_.index(), n, me_.services.random, tuning::far_first_one_in,
                               [&](unsigned i) { return steal_fork_of_worker(all.worker_at(i)); });
}

bool thief::steal_fork() noexcept {
    if (!me_.steals()) return steal_fork_from_suspended();
    if (me_.runtime().domains().several()) [[unlikely]]
        return steal_fork_by_distance() || steal_fork_from_suspended();
    const unsigned n = me_.runtime().worker_count_with_spares();
    const unsigned start = me_.random_below(n);
    for (unsigned i = 0; i < n; ++i) {
        worker& victim = me_.runtime().worker_at((start + i) % n);
        if (&victim != &me_ && steal_fork_of_worker(victim)) return true;
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

// Step 4 of the fork stack's protocol, for several contexts with one barrier: the contexts that a
// thief has claimed. The thief holds the lock of each until it has published.
class thief::forced_batch {
public:
    explicit forced_batch(worker& me) noexcept : me_(me) {}
    forced_batch(const forced_batch&) = delete;

    bool full() const noexcept { return size_ == victims_.size(); }
    bool empty() const noexcept { return size_ == 0; }
    bool refused() const noexcept { return refused_; }
    // Claims the context that runs on `victim`, if it seems to have private forks and no public
    // ones. Waits for the context's lock only if the batch is empty, so two thieves never wait for
    // each other. Returns false if it gave up because another thread holds the lock.
    bool add(worker& victim) noexcept {
        context* target = victim.running();
        sys::worker_tls* tls = victim.tls(); // Pairs through running(), which has acquired it.
        // A guess, but it keeps idle workers from disturbing busy ones.
        if (!target || !tls || !only_private_forks(*target, *tls)) return true;
        if (empty())
            target->lock.lock();
        else if (!target->lock.try_lock())
            return false;
        if (!only_private_forks(*target, *tls)) { // Another thief has forced them meanwhile.
            target->lock.unlock();
            return true;
        }
        // Every slot is older than the claim, so each pop takes the slow path.
        tls->split.store(claim());
        victims_[size_++] = {&victim, target, tls};
        return true;
    }
    // Makes all threads pass a barrier, then publishes half of the private forks of each claimed
    // context, and empties the batch. Returns true if any fork became public.
    bool publish() noexcept {
        if (SENNIT_MUTANT("a batch holds the locks of its victims"))
            for (unsigned i = 0; i < size_; ++i) victims_[i].target->lock.unlock();
        // A refused barrier leaves the claims behind. Each costs its owner one slow pop.
        const bool passed = sys::barrier_all_threads();
        refused_ = refused_ || !passed;
        bool forced = false;
        for (; size_ != 0; --size_) {
            const claimed& one = victims_[size_ - 1];
            forced = (passed && publish(one)) || forced;
            if (!SENNIT_MUTANT("a batch holds the locks of its victims")) one.target->lock.unlock();
        }
        return forced;
    }

private:
    struct claimed {
        worker* victim;
        context* target;
        sys::worker_tls* tls;
    };
    static bool only_private_forks(const context& target, const sys::worker_tls& tls) noexcept {
        return private_slots(target, tls) != 0 && fork_range::of(target.forks.load()).empty();
    }
    void* claim() const noexcept { return fork_claim(me_.index()); }
    bool publish(const claimed& one) noexcept {
        const std::uint32_t count = private_slots(*one.target, *one.tls);
        // The claim is read last. While it stands, the victim has not switched to another context
        // since the claim was made, so the counted slots are the target's. From the barrier on, the
        // owner can neither pop these slots nor leave them without the lock. (A claim value that
        // all thieves share, or a check before counting, is not enough: models/split.pml.)
        if (count == 0 || one.victim->running() != one.target || one.tls->split.load() != claim())
            return false;
        const std::uint32_t split = fork_range::of(one.target->forks.load()).split;
        advance_split(*one.target, split + (count + 1) / 2);
        me_.counted.forced.add();
        me_.counted.published.add((count + 1) / 2);
        return true;
    }

    worker& me_;
    std::array<claimed, tuning::victims_per_barrier> victims_;
    unsigned size_ = 0;
    bool refused_ = false;
};

// Adds all other workers to `batch`, beginning behind this one, so that each thief begins at
// another victim. Publishes each full batch, and ends early after the first that published a fork
// unless `all`. Returns true if any fork became public. The last batch is left to the caller.
bool thief::force_publication(forced_batch& batch, bool all) noexcept {
    bool forced = false;
    const unsigned n = me_.runtime().worker_count_with_spares();
    for (unsigned i = 1; i < n && (all || !forced); ++i) {
        worker& victim = me_.runtime().worker_at((me_.index() + i) % n);
        if (&victim == &me_) continue; // The number of workers may have grown meanwhile.
        if (batch.full()) forced = batch.publish() || forced;
        if (batch.add(victim)) continue;
        forced = batch.publish() || forced; // Waits for the lock while it holds no other one.
        (void)batch.add(victim);
    }
    return forced;
}

bool thief::force_publication_of_any() noexcept {
    if (!me_.steals() || !sys::barrier_available()) return false;
    forced_batch batch(me_);
    const bool forced = force_publication(batch, false);
    return (!batch.empty() && batch.publish()) || forced;
}

bool thief::force_publication_of_all(bool after_barrier) noexcept {
    if (!sys::barrier_available()) return true;
    forced_batch batch(me_);
    if (after_barrier) {
        if (me_.steals()) (void)force_publication(batch, true);
        (void)batch.publish();
        if (batch.refused()) return false;
    }
    // Private forks that only a look after the barrier shows.
    if (!me_.steals() || SENNIT_MUTANT("force after the barrier")) return true;
    (void)force_publication(batch, true);
    if (!batch.empty()) (void)batch.publish();
    return true;
}

} // namespace sennit::sched
