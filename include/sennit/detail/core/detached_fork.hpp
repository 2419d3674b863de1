// SPDX-License-Identifier: Apache-2.0
// A detached fork: a fork whose join waits until a thief has begun it, not until it has ended.
//
// Used by task graphs and pipelines, whose ready work belongs to no frame: a join that waited for
// the end of stolen work would keep a stack for each steal. Programs do not use it directly. The
// user counts the stolen work itself, in `begin`.
//
// Protocol. The owner pushes and pops a detached fork like every other fork (fork_stack.hpp). A
// thief takes the slot and then executes three steps (steal_fork.cpp: run_stolen_detached):
//   T1  copies the fork out of the slot and calls `begin`, which counts the stolen work;
//   T2  finishes the slot's `done`. From here on, the owner may use the slot again;
//   T3  calls `run`, in a strand of its own.
// The owner's pop of a stolen slot waits for T2. So the owner that has popped all its slots sees
// every `begin` of their thieves. Tested by the explorer's group `task_graph`.
#pragma once

#include "sennit/detail/core/fork_stack.hpp"

#include <cstdint>

namespace sennit::sched {

struct detached_fork {
    // Both functions run in the thief. `begin` must not suspend.
    struct functions {
        void (*begin)(detached_fork&) noexcept;
        void (*run)(detached_fork&) noexcept;
    };
    const functions* type;
    void* object;
    std::uint32_t first;
    std::uint32_t last;
};
static_assert(sizeof(detached_fork) <= fork_slot::capacity);

// The `run` of each slot that holds a detached fork. Thieves recognise the function by its address,
// and do not call it.
bool detached_mark(fork_slot*) noexcept;

// Returns how many slots of the running context detached forks may take from free_slot() on: at
// most `wanted`, and only slots of the first half of the fork stack. The other half is reserved for
// forks that take frames. Zero on a thread that is not a worker.
std::uint32_t room_for_detached(std::uint32_t wanted) noexcept;

// Pushes `fork` into `slot`, which must be free_slot(), as push_fork_quietly does.
inline void push_detached_quietly(fork_slot* slot, const detached_fork& fork) noexcept {
    ::new (static_cast<void*>(slot->data)) detached_fork(fork);
    slot->run = &detached_mark;
    push_fork_quietly(slot);
}
// Pushes `fork` into `slot`, which must be free_slot().
inline void push_detached(fork_slot* slot, const detached_fork& fork) noexcept {
    push_detached_quietly(slot, fork);
    poll_steal_requests();
}

} // namespace sennit::sched
