// SPDX-License-Identifier: Apache-2.0
// Fibers that change their runtime for good: this_fiber::move_to.
//
// A context belongs to its runtime and never leaves it. So the body of a movable fiber stands on a side stack, on top
// of whatever context its worker has: move_to leaves that side stack, and the code below it, `run_movable`, puts the
// context in order and posts the block to the other runtime as if it were new. A worker there picks it, enters the side
// stack again on a context of its own, and move_to returns. To the scheduler that is the end of one piece of work and
// the beginning of another.
//
// Who may read `runtime_`, which changes then. Its maker before the launch, and `launch` itself: nobody else has the
// block. The fiber itself: what the worker that it left has written came with the post. Whoever looks at the fiber's
// properties from outside: with `fiber_way::lock` held, see `stay`. A joiner that would run the fiber on its own stack
// does not look at it for a movable one, nor at `home`, which changes with it: it waits as for a fiber that somebody
// runs. Reports find fibers on contexts and in queues and do not ask. So it is a plain word.
//
// `stay`. A fiber's properties belong to the lock of its runtime's order, and where the order may hold it is said by
// `place`, under that lock. The runtime changes under `fiber_way::lock`, so who holds it while it is inside an order's
// lock is in the right one, and finds there the block or a context of that very runtime: a fiber that leaves has said
// before that it is nowhere. The fiber waits with its move until then, and so does the end of the runtime that it
// leaves. What was changed there is seen in the next order: by the lock, and the post. Locks are taken in this order:
// `lock`, then the order's; an order may ask for properties, which takes neither.
//
// After the post it may run on, end and be freed at once, so nothing of it is touched. The runtime that took it may be
// destroyed as soon as somebody has joined it: its end waits for who is inside `post`.
//
// Tested by tests/unit/fiber/move_test.cpp, explored by tests/sim/scenarios/fiber_move.cpp.
#include "sched/held_mutex.hpp"
#include "sched/runtime_core.hpp"
#include "sched/tracing.hpp"
#include "sched/worker.hpp"
#include "sennit/sched/fiber_block.hpp"
#include "sennit/sched/side_stack.hpp"
#include "sys/held_mutex.hpp"
#include "sys/mutant.hpp"
#include "sys/switch.hpp"

#include <stdexcept>
#include <utility>

namespace sennit::sched {

void fiber_block::become_movable(std::size_t size) {
    if (size > most_side_stack)
        throw std::invalid_argument("sennit: [SNT-106] fiber_attributes::stack_size must be at most 1 GiB");
    fiber_cold_state& more = cold_state();
    void* memory = take_memory(sizeof(fiber_way));
    try {
        const auto body = [](void* self) noexcept {
            auto& me = *static_cast<fiber_block*>(self);
            me.type_.body(me);
        };
        auto& stack = side_stack::take(body, this, size, more.name.data(), side_stack::owner::fiber);
        more.way = ::new (memory) fiber_way{.stack = &stack, .lock = {}};
    } catch (...) {
        give_memory(memory, sizeof(fiber_way));
        throw;
    }
}

void fiber_block::drop_way() noexcept {
    if (cold_->way->stack) side_stack::give(*cold_->way->stack); // never launched
    std::destroy_at(cold_->way);
    give_memory(cold_->way, sizeof(fiber_way));
}

std::unique_lock<base::spin_lock> fiber_block::stay() noexcept {
    if (!movable() || SENNIT_MUTANT("a change holds up a move")) return {};
    return std::unique_lock(cold_->way->lock);
}

// As run_queued, run_here and end for others, and once for each runtime. After `enter` this may be another worker.
[[gnu::noinline]] void fiber_block::run_movable() noexcept {
    fiber_way& way = *cold_->way;
    begin_activity(self_);
    tracing::emit(trace_kind::runs, &self_);
    context& here = this_worker()->self();
    const std::uint16_t outer_home = std::exchange(here.home, home);
    be_at(&here);
    way.begun = true;
    way.next = nullptr;
    way.stack->enter();
    here.home = outer_home;
    runtime_core* const there = way.next;
    be_at(nullptr);
    if (!there) {
        side_stack::give(*std::exchange(way.stack, nullptr));
        destroy_locals(self_);
    }
    end_activity(self_);
    tracing::emit(trace_kind::runs, self_.outer);
    if (there)
        go_to(*there);
    else
        end();
}

// On a context of the old runtime, which is the fiber's no more.
void fiber_block::go_to(runtime_core& there) noexcept {
    {
        std::lock_guard guard(cold_->way->lock);
        runtime_ = &there;
    }
    home = 0; // under round_robin it was given one
    there.post(*this);
}

void fiber_block::move_to(runtime_core& there) noexcept {
    fiber_way& way = *cold_->way;
    way.next = &there;
    // Floating-point modes are the fiber's own, as where it blocks; the code below it has the usual ones.
    const std::uint64_t usual = this_worker()->self().machine.fp_usual;
    const std::uint64_t modes = sys::fp_note().is(usual) ? 0 : sys::read_fp_control();
    if (modes != 0) sys::write_fp_control(usual);
#ifdef SENNIT_REPORT_HELD_MUTEX
    const std::int32_t held = sys::exchange_held_mutexes(0);
    if (held > 0) report_held_mutex(&self_, false, held);
#endif
    way.stack->leave();
    if (modes != 0) sys::write_fp_control(modes);
#ifdef SENNIT_REPORT_HELD_MUTEX
    sys::exchange_held_mutexes(held);
#endif
}

const char* fiber_block::why_not_move(const fiber_block* who, const runtime_core& there) noexcept {
    if (!who || !who->movable())
        return "sennit: [SNT-108] this_fiber::move_to: the caller is not a movable fiber; make the fiber with "
               "fiber_attributes::movable = true";
    if (!who->cold_->way->stack || !who->cold_->way->stack->may_leave())
        return "sennit: [SNT-109] this_fiber::move_to: a fiber cannot move inside a fork, a scope with children, a "
               "with_timeout, a coroutine, a blocking call or the destructor of a fiber_local; call it outside";
    if (there.lost_in_fork())
        return "sennit: [SNT-110] this_fiber::move_to: that runtime was made before fork() and has no threads in the "
               "child "
               "process; make a new runtime in the child";
    return nullptr;
}

} // namespace sennit::sched
