// SPDX-License-Identifier: Apache-2.0
// The core interface: the few verbs on which every model of the library stands.
//
// For the library's own models and for those who write new ones on top of the scheduler; programs
// use the faces
// (`fork_join`, `scope`, …). Fork push and pop are in `detail/core/fork_stack.hpp`.
#pragma once

#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/waiter.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class runtime_core;

// The runtime whose worker the calling thread is at this moment; null on other threads. Do not keep
// it over anything that may suspend for longer than the context lives: a context never changes its
// runtime, so the value stays right.
[[gnu::noinline]] runtime_core* current_runtime() noexcept;

// The context that the caller runs on; null on a thread that is no worker. Stays the same for the
// life of a frame.
[[gnu::noinline]] const void* current_context() noexcept;

// Of the context that the caller runs on; all zero on a thread that is no worker. See
// this_fiber::stack().
struct stack_numbers {
    std::size_t size = 0;
    std::size_t used = 0;
    std::size_t touched = 0;
};
[[gnu::noinline]] stack_numbers current_stack() noexcept;

// True when the caller runs on a context of some runtime and may suspend.
inline bool on_worker() noexcept {
    return current_runtime() != nullptr;
}

// A runnable's `affinity`: the worker of this number, or the calling one, else one in turn. The
// former throws std::invalid_argument when there is no such worker.
std::uint16_t affinity_of_worker(runtime_core& where, unsigned worker);
std::uint16_t affinity_here(runtime_core& where) noexcept;

// Makes `what` ready in arrival order: on the calling worker's own queue when it belongs to
// `where`, else on the runtime's shared queue. Wakes a sleeping worker. Thread-safe, never blocks,
// never allocates.
void schedule(runnable& what, runtime_core& where) noexcept;

// Like schedule, for new work that the caller just made: its worker takes the newest first, thieves
// the oldest.
void spawn(runnable& what, runtime_core& where) noexcept;

// Takes the calling context off its worker, which goes on with other work. `after(argument, who)`
// runs on the worker's next stack, when the context is completely saved; from the moment it
// publishes `who`, any thread may wake it. It returns false when there is nothing to wait for (any
// more): the context then goes on at once and `who` was not and will not be woken. The context may
// go on in another thread. Returns false, without having called `after`, when the memory for
// another stack is refused; the caller then blocks its thread instead.
bool suspend(bool (*after)(void* argument, waiter& who) noexcept, void* argument,
             waiter& who) noexcept;

// Lets other ready work of this worker run first; a thread that is no worker gives its processor
// away.
void yield() noexcept;

// Gives the processor to another thread of the system.
void yield_thread() noexcept;

// The caller has found another thread inside the lock of `place`, through which so many values have
// gone so far; it may hold that lock now. Where that happens all the time, the scheduler tries
// whether more go through it if all that use it run on one worker
// (src/core/policy/contention_monitor.hpp). Costs a few instructions; does nothing on a thread that
// is no worker.
void note_contended(const void* place, std::uint64_t values) noexcept;

// Blocks the calling context or thread until `wake(who)`. `publish(argument, who)` as `after` in
// suspend.
void park(bool (*publish)(void* argument, waiter& who) noexcept, void* argument,
          waiter& who) noexcept;

} // namespace sennit::sched
