// SPDX-License-Identifier: Apache-2.0
// Fibers that change their runtime for good: this_fiber::migrate_to.
//
// A context belongs to its runtime and never leaves it. So the body of a migratable fiber stands on
// a side stack, on top of whatever context its worker has: migrate_to leaves that side stack, and
// the code below it, `run_migratable`, puts the context in order and posts the block to the other
// runtime as if it were new. A worker there picks it, enters the side stack again on a context of
// its own, and migrate_to returns. To the scheduler that is the end of one piece of work and the
// beginning of another.
//
// Who may read `runtime_`, which changes then. Its maker before the launch, and `launch` itself:
// nobody else has the block. The fiber itself: what the worker that it left has written came with
// the post. Whoever looks at the fiber's properties from outside: with `migration_state::lock`
// held, see `pin_during_change`. A joiner that would run the fiber on its own stack does not look
// at it for a movable one, nor at `affinity`, which changes with it: it waits as for a fiber that
// somebody runs. Reports find fibers on contexts and in queues and do not ask. So it is a plain
// word.
//
// `pin_during_change`. A fiber's properties belong to the lock of its runtime's order, and where
// the order may hold it is said by `location`, under that lock. The runtime changes under
// `migration_state::lock`, so who holds it while it is inside an order's lock is in the right one,
// and finds there the block or a context of that very runtime: a fiber that leaves has said before
// that it is nowhere. The fiber waits with its move until then, and so does the end of the runtime
// that it leaves. What was changed there is seen in the next order: by the lock, and the post.
// Locks are taken in this order: `lock`, then the order's; an order may ask for properties, which
// takes neither.
//
// After the post it may run on, end and be freed at once, so nothing of it is touched. The runtime
// that took it may be destroyed as soon as somebody has joined it: its end waits for who is inside
// `post`.
//
// Tested by tests/unit/fibers/move_test.cpp, explored by tests/sim/scenarios/fiber_migration.cpp.
#include "core/diagnostics/held_mutex.hpp"
#include "core/diagnostics/tracing.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/coroutine_stack.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sys/held_mutex.hpp"
#include "sys/mutant.hpp"
#include "sys/switch.hpp"

#include <stdexcept>
#include <utility>

namespace sennit::sched {

void fiber_block::make_migratable(std::size_t size) {
    if (size > max_coroutine_stack)
        throw std::invalid_argument(
            "sennit: [SNT-106] fiber_attributes::stack_size must be at most 1 GiB");
    fiber_cold_state& more = cold_state();
    void* memory = take_memory(sizeof(migration_state));
    try {
        const auto body = [](void* self) noexcept {
            auto& me = *static_cast<fiber_block*>(self);
            me.type_.body(me);
        };
        auto& stack = coroutine_stack::take(body, this, size, more.name.data(),
                                            coroutine_stack::owner::fiber);
        more.migration = ::new (memory) migration_state{.stack = &stack, .lock = {}};
    } catch (...) {
        give_memory(memory, sizeof(migration_state));
        throw;
    }
}

void fiber_block::drop_migration() noexcept {
    if (cold_->migration->stack) coroutine_stack::give(*cold_->migration->stack); // never launched
    std::destroy_at(cold_->migration);
    give_memory(cold_->migration, sizeof(migration_state));
}

std::unique_lock<base::spin_lock> fiber_block::pin_during_change() noexcept {
    if (!migratable() || SENNIT_MUTANT("a change holds up a migration")) return {};
    return std::unique_lock(cold_->migration->lock);
}

// As run_queued, run_here and end for others, and once for each runtime. After `enter` this may be
// another worker.
[[gnu::noinline]] void fiber_block::run_migratable() noexcept {
    migration_state& migration = *cold_->migration;
    begin_strand(self_);
    tracing::emit(trace_kind::runs, &self_);
    context& here = this_worker()->self();
    const std::uint16_t outer_affinity = std::exchange(here.affinity, affinity);
    set_location(&here);
    migration.begun = true;
    migration.next = nullptr;
    migration.stack->enter();
    here.affinity = outer_affinity;
    runtime_core* const there = migration.next;
    set_location(nullptr);
    if (!there) {
        coroutine_stack::give(*std::exchange(migration.stack, nullptr));
        destroy_locals(self_);
    }
    end_strand(self_);
    tracing::emit(trace_kind::runs, self_.outer);
    if (there)
        post_to(*there);
    else
        end();
}

// On a context of the old runtime, which is the fiber's no more.
void fiber_block::post_to(runtime_core& there) noexcept {
    {
        std::lock_guard guard(cold_->migration->lock);
        runtime_ = &there;
    }
    affinity = 0; // under round_robin it was given one
    there.post(*this);
}

void fiber_block::migrate_to(runtime_core& there) noexcept {
    migration_state& migration = *cold_->migration;
    migration.next = &there;
    // Floating-point modes are the fiber's own, as where it blocks; the code below it has the usual
    // ones.
    const std::uint64_t usual = this_worker()->self().machine.fp_usual;
    const std::uint64_t modes = sys::fp_note().is(usual) ? 0 : sys::read_fp_control();
    if (modes != 0) sys::write_fp_control(usual);
#ifdef SENNIT_REPORT_HELD_MUTEX
    const std::int32_t held = sys::exchange_held_mutexes(0);
    if (held > 0) report_held_mutex(&self_, false, held);
#endif
    migration.stack->leave();
    if (modes != 0) sys::write_fp_control(modes);
#ifdef SENNIT_REPORT_HELD_MUTEX
    sys::exchange_held_mutexes(held);
#endif
}

const char* fiber_block::why_not_migrate(const fiber_block* who,
                                         const runtime_core& there) noexcept {
    if (!who || !who->migratable())
        return "sennit: [SNT-108] this_fiber::migrate_to: the caller is not a migratable fiber; "
               "make the fiber with "
               "fiber_attributes::migratable = true";
    if (!who->cold_->migration->stack || !who->cold_->migration->stack->may_leave())
        return "sennit: [SNT-109] this_fiber::migrate_to: a fiber cannot move inside a fork, a "
               "scope with children, a "
               "with_timeout, a coroutine, a blocking call or the destructor of a fiber_local; "
               "call it outside";
    if (there.lost_in_fork())
        return "sennit: [SNT-110] this_fiber::migrate_to: that runtime was made before fork() and "
               "has no threads in "
               "the "
               "child "
               "process; make a new runtime in the child";
    return nullptr;
}

} // namespace sennit::sched
