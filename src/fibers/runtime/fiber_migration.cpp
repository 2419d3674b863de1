// SPDX-License-Identifier: Apache-2.0
// Migration of fibers: a fiber changes its runtime for good with this_fiber::migrate_to.
//
// Protocol. A context belongs to its runtime and never leaves it. The body of a migratable fiber
// therefore stands on a coroutine stack, on top of the present context of its worker.
// M1. migrate_to leaves the coroutine stack.
// M2. The code below it, `run_migratable`, resets the context and posts the block to the other
// runtime as if it were new.
// M3. A worker there picks the block and enters the coroutine stack again, on a context of its own.
// migrate_to returns.
// To the scheduler, that is the end of one task and the beginning of another.
//
// Readers of `runtime_`, which changes in M2. `runtime_` is a plain word, because each reader is
// ordered:
// * Its creator before the launch, and `launch` itself: no other thread has the block.
// * The fiber itself: the post publishes everything that the worker which it left has written.
// * A task that reads or changes the fiber's properties from outside: it holds
//   `migration_state::lock`, see `pin_during_change`.
// * A joiner that would run the fiber on its own stack does not read `runtime_` of a migratable
//   fiber, nor `affinity`, which changes with it. It waits as for a fiber that already runs.
// * Reports find fibers on contexts and in queues, and do not read `runtime_`.
//
// `pin_during_change`. A fiber's properties are guarded by the lock of its runtime's order.
// `location` says, under that lock, where the order may hold the fiber. The runtime changes under
// `migration_state::lock`. A task that holds `migration_state::lock` while it is inside an order's
// lock is therefore in the fiber's present runtime, and finds there the block or a context of that
// runtime. A fiber that leaves has cleared its location before. The fiber delays its move until the
// lock is free, and so does the end of the runtime that it leaves. The lock and the post publish a
// change to the next order. Lock order: `migration_state::lock`, then the order's lock. An order
// may ask for properties, which takes neither lock.
//
// End. After the post the fiber may run on, end and be freed immediately, so the poster does not
// touch it any more. The runtime that took the fiber may be destroyed as soon as the fiber has been
// joined: its end waits for threads that are inside `post`.
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
    // The fiber was never launched.
    if (cold_->migration->stack) coroutine_stack::give(*cold_->migration->stack);
    std::destroy_at(cold_->migration);
    give_memory(cold_->migration, sizeof(migration_state));
}

std::unique_lock<base::spin_lock> fiber_block::pin_during_change() noexcept {
    if (!migratable() || SENNIT_MUTANT("a change holds up a migration")) return {};
    return std::unique_lock(cold_->migration->lock);
}

// Does the work of run_queued, run_here and end for a migratable fiber, once for each runtime.
// After `enter` the calling thread may be another worker.
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

// Runs on a context of the old runtime, which no longer belongs to the fiber.
void fiber_block::post_to(runtime_core& there) noexcept {
    {
        std::lock_guard guard(cold_->migration->lock);
        runtime_ = &there;
    }
    affinity = 0; // round_robin had given it one
    there.post(*this);
}

void fiber_block::migrate_to(runtime_core& there) noexcept {
    migration_state& migration = *cold_->migration;
    migration.next = &there;
    // The floating-point modes belong to the fiber, as when it blocks; the code below it runs with
    // the usual modes.
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
               "make the fiber with fiber_attributes::migratable = true";
    if (!who->cold_->migration->stack || !who->cold_->migration->stack->may_leave())
        return "sennit: [SNT-109] this_fiber::migrate_to: a fiber cannot move inside a fork, a "
               "scope with children, a with_timeout, a coroutine, a blocking call or the "
               "destructor of a fiber_local; call it outside";
    if (there.lost_in_fork())
        return "sennit: [SNT-110] this_fiber::migrate_to: that runtime was made before fork() and "
               "has no threads in the child process; make a new runtime in the child";
    return nullptr;
}

} // namespace sennit::sched
