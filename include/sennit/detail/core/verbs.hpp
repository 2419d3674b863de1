// SPDX-License-Identifier: Apache-2.0
// The core interface: the few operations on which every model of the library is built.
//
// It is for the library's own models and for authors of new models on top of the scheduler.
// Programs use the public headers (`fork_join`, `scope`, …). Fork push and pop are in
// `detail/core/fork_stack.hpp`.
#pragma once

#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/core/waiter.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class runtime_core;

// The runtime of which the calling thread is a worker at this moment; null on other threads. A
// context never changes its runtime, so the value stays valid over suspensions for as long as the
// context lives. Do not keep it for longer.
[[gnu::noinline]] runtime_core* current_runtime() noexcept;

// The context that the caller runs on; null on a thread that is not a worker. It does not change
// during the life of a frame.
[[gnu::noinline]] const void* current_context() noexcept;

// Figures of the stack that the caller runs on; all zero on a thread that is not a worker. See
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

// Values for a runnable's `affinity`. The first names the worker of the given number, and throws
// std::invalid_argument when there is no such worker. The second names the calling worker; on other
// threads it names the workers in turn.
std::uint16_t affinity_of_worker(runtime_core& where, unsigned worker);
std::uint16_t affinity_here(runtime_core& where) noexcept;

// A small number for the choice among the parts of a sharded object: two workers of one runtime
// have different numbers from 1 up, and all threads that are not workers have 0. Take it modulo the
// number of parts. It says nothing about the next instruction, since the caller may migrate.
[[gnu::noinline]] unsigned current_shard() noexcept;
// The number of parts that sharded objects of this process have: a power of two, from 8 to 64, and
// at least the number of processors, if that is not above 64.
unsigned shard_count() noexcept;

// Makes `what` ready in arrival order: on the calling worker's own queue if the worker belongs to
// `where`, otherwise on the runtime's injector. Wakes a sleeping worker. Thread-safe, never blocks,
// never allocates.
void schedule(runnable& what, runtime_core& where) noexcept;

// Like schedule, for a task that the caller has just created: its worker takes the newest first,
// thieves take the oldest.
void spawn(runnable& what, runtime_core& where) noexcept;

// Takes the calling context off its worker, which continues with other tasks. `after(argument,
// who)` runs on the worker's next stack, when the context is completely saved. From the moment
// `after` publishes `who`, any thread may wake the context. `after` returns false if there is
// nothing to wait for (any more). The context then continues immediately, and `who` was not woken
// and will not be. The context may continue in another thread. Returns false, without having called
// `after`, if the memory for another stack is refused; the caller then blocks its thread instead.
bool suspend(bool (*after)(void* argument, waiter& who) noexcept, void* argument,
             waiter& who) noexcept;

// Lets other ready tasks of this worker run first. A thread that is not a worker yields its
// processor.
void yield() noexcept;

// The rare case of yield_if_requested.
void yield_on_request() noexcept;
// Yields if the watchdog has asked the calling worker for a turn of other tasks, because its task
// has run for long. The slow paths of locks call it, since they may suspend in any case: a fiber
// that only takes free locks never waits.
inline void yield_if_requested() noexcept {
    if (sys::tls_turn_requested()) [[unlikely]]
        yield_on_request();
}

// Yields the processor to another thread of the system.
void yield_thread() noexcept;

// Blocks the calling context or thread until `wake(who)`. `publish(argument, who)` behaves like
// `after` in suspend.
void park(bool (*publish)(void* argument, waiter& who) noexcept, void* argument,
          waiter& who) noexcept;

} // namespace sennit::sched
