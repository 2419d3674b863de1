// SPDX-License-Identifier: Apache-2.0
// A stack beside that of the running context. Code on it is part of the strand that entered it.
//
// Used by coroutines, generators and migratable fibers (src/fibers/runtime/fiber_migration.cpp).
// The scheduler takes no part in entering and leaving: each is a jump between two stacks, and costs
// a tenth of a switch between contexts. For the scheduler the enterer continues to run, in the same
// context, strand and fork stack. So a body that blocks blocks its whole enterer, and continues
// wherever the enterer continues. The body's forks and locks are those of the enterer.
//
// Which threads run this: the thread that enters or leaves, or takes or gives a stack.
//
// State. A coroutine stack has one *other side*. While the body runs, the other side is the saved
// stack pointer of the enterer; while the body is suspended, it is the saved stack pointer of the
// body. Entering and leaving are one operation: an exchange with the other side.
//
// The jump exchanges:
// * the stack pointer;
// * the record of exceptions in flight, because a body may leave inside a catch block, or be
//   entered during unwinding;
// * the sanitizers' notes, also in the running context's `machine`: if the body blocks, the context
//   is switched out and resumed on this stack. (The context's own `stack` stays: its worker loop is
//   there.)
// A jump does not exchange the worker TLS line: context, strand and fork stack are those of the
// enterer. So the body must leave with the forks, strand and cancel scope with which it was
// entered. `entered_` holds a fingerprint of them, and every leave checks it. A jump does not
// exchange the floating-point modes: like a called function, a body starts with its caller's modes,
// and a mode that the body sets stays set.
//
// Why a body may block. The scheduler saves a context's stack pointer wherever it points. The
// context's frames are then those on the coroutine stack and, through the other side, those of the
// enterer. The thread that resumes the context jumps back to the coroutine stack. Only reports look
// at the bounds of the context's own stack, and they ask `find` first.
//
// Why another thread may enter next. A jump leaves nothing of the thread behind except the record
// of exceptions, which each jump looks up anew. The code that hands the coroutine stack to another
// thread must publish the writes made before the leave, as for every object.
//
// A stack lives as long as the process, and so does its bottom frame, which runs one body after
// another. Taking a used stack therefore writes two words.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/base/sanitizers.hpp"
#include "sennit/detail/core/fork_stack.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/sys/exception_globals.hpp"
#include "sennit/detail/sys/here.hpp"

#include <cstddef>

#if defined(SENNIT_WORKER_TLS_ASM) && !defined(SENNIT_ADDRESS_SANITIZER)
#define SENNIT_INLINE_JUMP 1
#include "sennit/detail/sys/jump_x86_64.hpp"
#endif

namespace sennit::sched {

// Address space in bytes. A page takes memory once it is touched.
inline constexpr std::size_t coroutine_stack_size = std::size_t{1} << 20;
inline constexpr std::size_t max_coroutine_stack = std::size_t{1} << 30;
inline constexpr std::size_t min_coroutine_stack = std::size_t{16} << 10;

// The control block of a coroutine stack. It lies at the upper end of its own stack.
class alignas(base::cache_line) coroutine_stack {
public:
    // Returns an unused stack, on which `body(argument)` runs when the stack is first entered. The
    // calling worker's cache serves the call in a few ns; otherwise the call takes a lock or makes
    // a system call. Throws std::bad_alloc.
    static coroutine_stack& take(void (*body)(void*) noexcept, void* argument);
    // Returns an unused stack of at least `size` bytes, up to `max_coroutine_stack`, rounded up to
    // a power of two; 0 means the default size. Takes a lock. Reports print `name`, which must
    // outlive the body (null: none), and `whose`, the kind of object that owns the body.
    enum class owner : unsigned char { coroutine, fiber };
    static coroutine_stack& take(void (*body)(void*) noexcept, void* argument, std::size_t size,
                                 const char* name, owner whose = owner::coroutine);
    // Returns a stack whose body has returned. May be called from any thread.
    static void give(coroutine_stack& ended) noexcept;

    // The saved stack pointer of the other side.
    void* other_side() const noexcept { return other_sp_; }
    // Runs the body until it leaves or returns. May return in another thread, because the body may
    // block. The enterer keeps its place on its own stack meanwhile. `other` must be other_side(),
    // and the result is the new other_side(). A caller that keeps the result saves the next entry a
    // load that depends on earlier loads.
    void* enter(void* other) noexcept;
    void* enter() noexcept { return enter(other_sp_); }
    // Like enter, but tells the body to look for the reason: `leave` returns null in the body.
    void* interrupt() noexcept;
    // From inside: continues the enterer. `other` and the result are other_side(), as for enter.
    // Ends the program when the caller does not run in the place where it was entered: on another
    // stack, in a fork, fiber or cancel scope, or with unjoined forks.
    void* leave(void* other) noexcept;
    void* leave() noexcept { return leave(other_sp_); }
    // True if the caller may leave: the check that `leave` makes.
    bool may_leave() const noexcept { return holds_caller() && as_entered(); }
    // From inside: continues inside `next`, whose enterer is then this stack's enterer. Makes the
    // checks of leave.
    void transfer_to(coroutine_stack& next) noexcept;

    std::byte* low() const noexcept { return low_; }
    std::byte* high() const noexcept { return high_; }
    // includes the part that the body cannot use
    std::size_t size() const noexcept { return std::size_t{1} << size_class_; }
    const char* name() const noexcept { return name_ ? name_ : ""; }
    // Returns the stack on which `address` lies, or, with `guard`, in whose guard page it lies;
    // null: none. Takes no lock.
    static const coroutine_stack* find(const void* address, bool guard = false) noexcept;

    // The members that a debugger reads: src/core/diagnostics/debug_layout.cpp.
    struct debug;

private:
    friend struct debug;
    friend class coroutine_stack_cache;
    // The sanitizers' notes on one side's stack.
    struct notes {
        const void* low = nullptr;
        std::size_t size = 0;
        void* tsan_fiber = nullptr;
    };

    coroutine_stack(std::byte* low, std::byte* high, unsigned size_class) noexcept;
    static coroutine_stack& make(unsigned size_class);
    static coroutine_stack* take_idle(unsigned size_class) noexcept;
    void keep_idle() noexcept;
    [[noreturn]] static void bottom() noexcept;
    void exchange_exceptions() noexcept;
    static std::uintptr_t entry_fingerprint() noexcept;
    bool holds_caller() const noexcept;
    bool as_entered() const noexcept;
    void check_leave() const noexcept;
    void arrived_inside(void* fake_stack) noexcept;

    void* other_sp_ = nullptr;
    // The next stack in the cache that keeps this one.
    coroutine_stack* next_free_ = nullptr;
    sys::exception_globals other_exceptions_{};
    // The fingerprint of the enterer's forks, strand and cancel scope.
    std::uintptr_t entered_ = 0;
    std::byte* const low_;
    const std::size_t room_; // Distance in bytes from low_ to high_.
    std::byte* const high_;
    void (*body_)(void*) noexcept = nullptr; // null: no body owns the stack
    void* argument_ = nullptr;
    const char* name_ = nullptr;
    owner whose_ = owner::coroutine;
    // The next stack in the list of all stacks. Set before this stack enters the list.
    coroutine_stack* next_made_ = nullptr;
    // The binary logarithm of the size, before the control block is set aside.
    const unsigned size_class_;

    // For sanitizers: the notes of the body's side and of the enterer's side.
    notes inner_;
    notes outer_;
    // For jumps that pass no value in a register: whether the newest jump would have passed one.
    [[maybe_unused]] bool tells_ = true;
    // True if the newest jump to the inside came from the inside of another coroutine stack.
    [[maybe_unused]] bool passed_ = false;
};

extern base::atomic<coroutine_stack*> newest_coroutine_stack; // the list of all stacks

// Idle stacks: those that a worker keeps, or, behind a lock, those that all threads share.
class coroutine_stack_cache {
public:
    coroutine_stack* take() noexcept {
        coroutine_stack* found = first_;
        if (found) {
            first_ = found->next_free_;
            --count_;
        }
        return found;
    }
    void keep(coroutine_stack& idle) noexcept {
        idle.next_free_ = first_;
        first_ = &idle;
        ++count_;
    }
    std::size_t size() const noexcept { return count_; }
    void give_all() noexcept; // moves all stacks to the shared cache

private:
    coroutine_stack* first_ = nullptr;
    std::size_t count_ = 0;
};

// The exchange copies member by member. For a copy of the whole record, the compiler reads with one
// load the words that were written with two stores, and such a load waits.
inline void coroutine_stack::exchange_exceptions() noexcept {
    sys::exception_globals& mine = sys::tls_exception_globals();
    if (sys::none_in_flight(mine, other_exceptions_)) [[likely]]
        return;
    void* const caught = other_exceptions_.caught;
    const unsigned uncaught = other_exceptions_.uncaught;
    other_exceptions_.caught = mine.caught;
    base::compiler_barrier();
    other_exceptions_.uncaught = mine.uncaught;
    mine.caught = caught;
    base::compiler_barrier();
    mine.uncaught = uncaught;
}

// Combines into one word the enterer's properties that must be unchanged when the body leaves: its
// forks, its strand and its cancel scope. Two changes cannot cancel each other: a fork moves the
// first value by some words, and the other two values are addresses of whole objects elsewhere.
inline std::uintptr_t coroutine_stack::entry_fingerprint() noexcept {
    const strand& who = this_strand();
    // SAFETY: numbers to compare, never pointers again.
    return reinterpret_cast<std::uintptr_t>(free_slot()) ^ reinterpret_cast<std::uintptr_t>(&who) ^
           reinterpret_cast<std::uintptr_t>(who.scope);
}

inline bool coroutine_stack::holds_caller() const noexcept {
    const auto* sp = static_cast<const std::byte*>(sys::stack_pointer());
    return static_cast<std::size_t>(sp - low_) < room_;
}

inline bool coroutine_stack::as_entered() const noexcept {
    return entry_fingerprint() == entered_;
}

inline void coroutine_stack::check_leave() const noexcept {
    SENNIT_CHECK(holds_caller(), "[SNT-301] coroutine suspend was called outside of the "
                                 "coroutine's body; only the body itself may suspend it");
    SENNIT_CHECK(as_entered(),
                 "[SNT-302] a coroutine is suspended inside a fork, a scope with children, a "
                 "with_timeout or another fiber; suspend it outside, or resume it where it began");
}

#ifdef SENNIT_INLINE_JUMP

[[gnu::always_inline]] inline void* coroutine_stack::enter(void* other) noexcept {
    entered_ = entry_fingerprint();
    exchange_exceptions();
    return sys::jump_told(&other_sp_, other);
}

[[gnu::always_inline]] inline void* coroutine_stack::leave(void* other) noexcept {
    check_leave();
    exchange_exceptions();
    return sys::jump_told(&other_sp_, other);
}

#endif

} // namespace sennit::sched
