// SPDX-License-Identifier: Apache-2.0
// The forks of tasks that are stolen or left behind. sennit/detail/core/task_fork.hpp has the
// protocol.
#include "sennit/detail/core/task_fork.hpp"

#include "core/task/activation.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/fork_stack.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sys/mutant.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

// The share of the rest was counted before the slot was pushed, so step T1 has nothing to do.
const detached_fork::functions rest_of_walk{
    [](detached_fork&) noexcept {},
    [](detached_fork& own) noexcept { activation().run_fork_and_forks_left(own); }};

bool has_room_for_rest() noexcept {
    return room_for_detached(1) != 0;
}

std::coroutine_handle<> task_fork::join(std::coroutine_handle<> parent) noexcept {
    waits_ = true;
    waiter_ = &task_wait::begin_counted(parent, {.cancellable = false, .what = "fork_join"});
    // Pairs with drop_shares. After it another walk may continue the parent, so the fork may be
    // gone.
    if (unfinished_.fetch_sub_acq_rel(1) == 1) return parent;
    return std::noop_coroutine();
}

void task_fork::end_wait_of_join() noexcept {
    (void)task_wait::end();
}

void activation::run_fork(const detached_fork& own) noexcept {
    task_fork& of = *static_cast<task_fork*>(own.object);
    const std::uint32_t first = own.first;
    std::uint32_t last = own.last;
    // The victim will soon be out of work, so the upper half is offered as one fork. It lies above
    // the base of this activation, which takes it back like a fork that a strand leaves behind.
    if (last - first > 1 && has_room_for_rest()) {
        const std::uint32_t half = first + (last - first + 1) / 2;
        if (!SENNIT_MUTANT("the upper half of a stolen fork has a share")) of.add_share();
        push_detached(free_slot(), {&rest_of_walk, &of, half, last});
        last = half;
    }
    std::coroutine_handle<> begins;
    if (task_strand* strand = of.type.make_strand(of, first, last, begins))
        resume_once(*strand, begins);
    else
        of.drop_shares(1);
}

void activation::run_fork_and_forks_left(const detached_fork& own) noexcept {
    run_fork(own);
    run_forks_left();
}

// R4. The strand that has left the forks may be gone, and the strand below may run elsewhere: its
// identity may be lent. So a pop that waits for a thief waits with the identity of the context.
void activation::run_forks_left() noexcept {
    while (free_slot() != run_.base) {
        exchange_strand(&host_.own);
        fork_slot* top = free_slot() - 1;
        // A scope that lives in a coroutine takes its own forks back.
        if (top->run != &detached_mark) return;
        const detached_fork own = top->as<detached_fork>();
        if (own.type != &rest_of_walk) return;
        if (!pop_fork(top)) continue;
        if (!SENNIT_MUTANT("forks that a task leaves behind are run")) run_fork(own);
    }
}

} // namespace sennit::sched
