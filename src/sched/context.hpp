// SPDX-License-Identifier: Apache-2.0
// A context: a stack, its control block and its own fork stack. All user code runs on some context.
//
// Control blocks are type-stable: they live as long as their runtime, so that a thief with an outdated pointer reads a
// harmless word. The same holds for the memory of fork stacks.
//
// Who touches what
//   machine, saved_head, saved_activity  the worker that switches from or to the context
//   fork_base                set once at creation
//   forks                    owner and thieves, by CAS (protocol in sennit/sched/fork_stack.hpp)
//   lock                     guards raising and resetting `forks` by anybody but the lock-free thief
//   pending_exception        owner, between an exception caught in a child and its rethrow
//   orphaned                 guarded by the runtime's orphan list
#pragma once

#include "sennit/base/atomic.hpp"
#include "sennit/base/cache_line.hpp"
#include "sennit/base/spin_lock.hpp"
#include "sennit/sched/activity.hpp"
#include "sennit/sched/fork_stack.hpp"
#include "sennit/sched/runnable.hpp"
#include "sys/stack.hpp"
#include "sys/switch.hpp"

#include <cstdint>
#include <exception>

namespace sennit::sched {

class mailbox;
class runtime_core;

// The word {top, split}: indices into the fork stack.
struct fork_range {
    std::uint32_t top;
    std::uint32_t split;

    static fork_range of(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
    }
    std::uint64_t word() const noexcept { return (std::uint64_t{top} << 32) | split; }
    std::uint32_t size() const noexcept { return split - top; }
    bool empty() const noexcept { return top >= split; }
};

class alignas(base::destructive_distance) context : public runnable {
public:
    // On stacks whose memory the pool takes back. `index` names it in reports.
    context(runtime_core& runtime, unsigned index, sys::stack stack, sys::stack fork_memory) noexcept;
    ~context();
    context(const context&) = delete;

    // The function of a context as a runnable: the worker's loop switches to it.
    static void resume_ready(runnable* self) noexcept;

    fork_slot* slot(std::uint32_t number) const noexcept { return fork_base - number; }
    std::uint32_t number_of(const void* slot) const noexcept {
        return static_cast<std::uint32_t>(fork_base - static_cast<const fork_slot*>(slot));
    }

    // Slots that the fork stack has room for.
    std::ptrdiff_t capacity() const noexcept {
        return (fork_memory.high - fork_memory.low) / static_cast<std::ptrdiff_t>(sizeof(fork_slot));
    }

    sys::machine_context machine;
    fork_slot* const fork_base; // slot 0; the others lie below
    fork_slot* saved_head;
    activity* saved_activity; // who runs here
    activity own;             // the loop's, and of what runs on it without one of its own
#ifdef SENNIT_REPORT_HELD_MUTEX
    std::int32_t held_mutexes = 0; // while it is left
#endif
    mailbox* serves = nullptr; // whose turn runs here
    bool lent = false;         // blocked, while a blocking call uses the activity on another thread
    std::int64_t left_ns = 0;  // about when it was left last; by who left it
    runtime_core& runtime;
    const sys::stack stack;
    const sys::stack fork_memory;
    const unsigned index;
    std::exception_ptr pending_exception;
    context* next_free = nullptr;
    context* next_orphan = nullptr;
    base::atomic<bool> orphaned{false}; // relaxed: the list's lock orders it, see runtime_core::forget_orphan
    bool large = false;                 // its stack is larger than the runtime's usual one

    alignas(base::destructive_distance) base::atomic<std::uint64_t> forks{0};
    base::spin_lock lock;
};

// The stack that `sp`, where the context stands, lies on: its own, or a side stack. Takes no lock.
sys::stack stack_at(const context& whose, const void* sp) noexcept;

} // namespace sennit::sched
