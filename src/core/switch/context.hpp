// SPDX-License-Identifier: Apache-2.0
// A context: a stack, its control block and its own fork stack. All user code runs on some context.
//
// The memory of a context is one block, from low to high addresses: the guard, the stack of frames,
// which grows downwards, the control block, the fork stack, which grows upwards, and the guard of
// the next context.
//
// Control blocks are type-stable: they live as long as their runtime, so a thief with an outdated
// pointer reads a harmless word. The memory of fork stacks is type-stable, too.
//
// Which thread touches which field:
//
//   field                 written by                           guarded by
//   machine, saved_head,  the worker that switches from        the switch itself
//     saved_strand          or to the context
//   fork_end              the constructor, once                constant
//   current_receiver_     the strand on the context            atomic
//   forks                 the owner and thieves                CAS (protocol in
//                                                                detail/core/fork_stack.hpp)
//   pending_exception     the owner, between an exception      owner only
//                           caught in a child and its rethrow
//   stealable,            the runtime's list of suspended      the lock of that list
//     stealable_affinity    contexts with forks
//
// Every thread but a lock-free thief must hold `lock` to advance or reset `forks`.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/core/fork_stack.hpp"
#include "sennit/detail/core/resumable.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/stack.hpp"
#include "sys/switch.hpp"

#include <cstdint>
#include <exception>

namespace sennit::sched {

struct task_run;

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

class alignas(base::destructive_distance) context : public resumable {
public:
    // Placed at the upper end of `frames`. Fork slots begin where the control block ends; the
    // memory is writable up to `fork_end`. `index` names the context in reports.
    context(runtime_core& runtime, unsigned index, sys::stack frames, std::byte* fork_end) noexcept;
    ~context();
    context(const context&) = delete;

    // The function of a context as a runnable: the worker's loop switches to the context.
    static void resume_ready(runnable* self) noexcept;

    // Slot 0.
    fork_slot* fork_base() const noexcept {
        // SAFETY: fork slots are implicit-lifetime storage: each push writes the slot before any
        // thread reads it.
        return reinterpret_cast<fork_slot*>(const_cast<context*>(this) + 1);
    }
    fork_slot* slot(std::uint32_t number) const noexcept { return fork_base() + number; }
    std::uint32_t number_of(const void* slot) const noexcept {
        return static_cast<std::uint32_t>(static_cast<const fork_slot*>(slot) - fork_base());
    }

    // True if a scope, whose children take no frames, may take `slot`: the other slots are reserved
    // for forks that do.
    bool has_room_for_scopes(const fork_slot* slot) const noexcept {
        return slot - fork_base() < fork_end - slot;
    }

    // The receiver, such as a mailbox, whose messages are handled here, or null. Only for the
    // thread that runs here. Orders nothing: the thread's own word.
    runnable* current_receiver() const noexcept { return current_receiver_.load_rlx(); }
    void set_current_receiver(runnable* one) noexcept {
        current_receiver_.store_rel(one);
    } // pairs with current_receiver_hint
    // The same receiver for any thread: a hint. It is fully constructed.
    const runnable* current_receiver_hint() const noexcept {
        return current_receiver_.load_acq();
    } // pairs with set_current_receiver

    sys::machine_context machine;
    fork_slot* const fork_end; // At or before the begin of the guard.
    fork_slot* saved_head;
    // The logical thread of the loop, and of tasks that run on it without one of their own.
    alignas(16) strand own;
#ifdef SENNIT_REPORT_HELD_MUTEX
    std::int32_t held_mutexes = 0; // While the context is suspended.
#endif

private:
    base::atomic<runnable*> current_receiver_{nullptr};

public:
    // Of the actor whose constructor is about to run here: src/actors/actor_group.cpp.
    runnable* under_construction = nullptr;
    // Blocked, while a blocking call uses the logical thread on another OS thread.
    bool in_blocking_pool = false;
    // The approximate time of the last suspension; written by the leaving worker.
    std::int64_t suspended_at_ns = 0;
    const sys::stack stack;
    const unsigned index;
    std::exception_ptr pending_exception;
    context* next_free = nullptr;
    context* next_stealable = nullptr;
    // Relaxed: the list's lock orders it, see runtime_core::unregister_stealable.
    base::atomic<bool> stealable{false};
    // The affinity of the worker that suspended it; guarded by the list's lock.
    std::uint16_t stealable_affinity = 0;
    // The innermost activation of a task on this stack: core/task/task_strand.cpp. Owner only.
    task_run* running_task = nullptr;
    bool large = false; // True if its stack is larger than the runtime's usual one.

    alignas(base::destructive_distance) base::atomic<std::uint64_t> forks{0};
    // The stolen fork that runs here, the innermost one; null: none. Written by the thread that
    // runs here. Other threads compare it.
    base::atomic<fork_slot*> stolen{nullptr};
    base::spin_lock lock;
};

// Returns the stack on which `sp`, a stack pointer of this context, lies: its own, or a coroutine
// stack. Takes no lock.
sys::stack stack_at(const context& whose, const void* sp) noexcept;

} // namespace sennit::sched
