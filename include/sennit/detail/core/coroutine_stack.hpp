// SPDX-License-Identifier: Apache-2.0
// A stack beside that of the running context: what runs on it is part of whoever entered it.
//
// Who uses it: coroutines, generators, and fibers that may move
// (src/fibers/runtime/fiber_migration.cpp). The scheduler takes no part in entering and leaving:
// each is a jump between two stacks, a tenth of a switch between contexts. To the scheduler the
// enterer goes on running: same context, same activity, same fork stack. So a body that blocks
// blocks its enterer as a whole, wherever that goes on then; its forks are the enterer's, and its
// locks, too.
//
// Which threads run this: the one that enters or leaves, or takes or gives.
//
// State. A side stack has one *other side*: while somebody is inside, that is where the enterer
// stands; while nobody is, where the one inside stands. Entering and leaving are the same act,
// exchanging with the other side.
//
// What a jump exchanges, and why that is all.
//  * The stack pointer, of course.
//  * The record of exceptions in flight: a body may leave inside a catch block, or be entered
//  during unwinding.
//  * The sanitizers' notes, also in the running context's `machine`: if the body blocks, the
//  context is left and resumed
//    on this stack. (The context's own `stack` stays: its worker loop is there.)
// Not the hot line: context, activity and fork stack are the enterer's. So nothing of theirs may
// change inside over a leave; this is checked: `entered_` holds them. Not the floating-point modes:
// like a function called, a body has those of its caller, and what it sets stays set.
//
// Why a body may block. The scheduler saves a context's stack pointer wherever it points; the
// context's frames are then those on the side stack and, through the other side, those of the
// enterer. Who resumes the context jumps back to the side stack. The bounds of the context's own
// stack are looked at by reports only, which ask `find` first.
//
// Why another thread may enter next. A jump leaves nothing of the thread behind but the record of
// exceptions, which is looked up anew at each; that what was written before leaving is seen by who
// enters next is the matter of whoever hands the side stack to another thread, as for every object.
//
// A stack that was made stays for the life of the process, and its bottom frame too, which runs one
// body after the other: taking a used one writes two words.
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

inline constexpr std::size_t coroutine_stack_size =
    std::size_t{1} << 20; // address space; a page is memory once touched
inline constexpr std::size_t max_coroutine_stack = std::size_t{1} << 30;
inline constexpr std::size_t min_coroutine_stack = std::size_t{16} << 10;

// Lies at the upper end of its own stack.
class alignas(base::cache_line) coroutine_stack {
public:
    // One on which nothing stands; `body(argument)` will run on it when it is first entered. From
    // the calling worker's cache in a few ns, else a lock or a system call. Throws std::bad_alloc.
    static coroutine_stack& take(void (*body)(void*) noexcept, void* argument);
    // One of at least `size` bytes, up to `max_coroutine_stack`: the next power of two; 0: as
    // above. Takes a lock. `name` is for reports, and outlives the body; null: none. So is whose
    // body it is.
    enum class owner : unsigned char { coroutine, fiber };
    static coroutine_stack& take(void (*body)(void*) noexcept, void* argument, std::size_t size,
                                 const char* name, owner whose = owner::coroutine);
    // The body has returned, and the stack was left by that. From any thread.
    static void give(coroutine_stack& ended) noexcept;

    // Where the other side stands.
    void* other_side() const noexcept { return other_sp_; }
    // Goes on inside; returns when that leaves, or when the body has returned. May return in
    // another thread: the body may block. The enterer keeps its place on its own stack meanwhile.
    // `other` is other_side(), and so is what it returns: whoever keeps that beside itself spares
    // the next turn a load that waits for others.
    void* enter(void* other) noexcept;
    void* enter() noexcept { return enter(other_sp_); }
    // As enter, and what is told inside is that it shall look why: `leave` returns null there.
    void* interrupt() noexcept;
    // From inside: back to the enterer; the same of `other` and what is returned. Ends the program
    // when the caller is not inside in the way in which it was entered: on another stack, in a
    // fork, fiber or cancel scope, or with forks that are not joined.
    void* leave(void* other) noexcept;
    void* leave() noexcept { return leave(other_sp_); }
    // Whether the caller may: what leave checks.
    bool may_leave() const noexcept { return holds_caller() && as_entered(); }
    // From inside: goes on inside `next`, whose enterer is then ours. Checks as leave.
    void transfer_to(coroutine_stack& next) noexcept;

    std::byte* low() const noexcept { return low_; }
    std::byte* high() const noexcept { return high_; }
    std::size_t size() const noexcept {
        return std::size_t{1} << size_class_;
    } // some of it is not the body's
    const char* name() const noexcept { return name_ ? name_ : ""; }
    // The one on which `address` lies, or in the guard of which, with `guard`; null: none. Takes no
    // lock.
    static const coroutine_stack* find(const void* address, bool guard = false) noexcept;

    struct debug; // what a debugger is told: src/core/diagnostics/debug_layout.cpp

private:
    friend struct debug;
    friend class coroutine_stack_cache;
    // The sanitizers' notes of a stack.
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
    coroutine_stack* next_free_ = nullptr; // whoever keeps it
    sys::exception_globals other_exceptions_{};
    std::uintptr_t entered_ = 0; // the enterer's surroundings
    std::byte* const low_;
    const std::size_t room_; // from low_ to high_
    std::byte* const high_;
    void (*body_)(void*) noexcept = nullptr; // null: nobody's
    void* argument_ = nullptr;
    const char* name_ = nullptr;
    owner whose_ = owner::coroutine;
    coroutine_stack* next_made_ = nullptr; // set before it is in the list of all
    const unsigned size_class_;            // the logarithm of its size, before the top is set off

    // For sanitizers.
    notes inner_;
    notes outer_;
    [[maybe_unused]] bool tells_ =
        true; // where jumps tell nothing: whether the newest one would have
    [[maybe_unused]] bool passed_ =
        false; // the newest jump to the inside came from the inside of another
};

extern base::atomic<coroutine_stack*> newest_coroutine_stack; // the list of all

// Idle ones that a worker keeps, or, behind a lock, all threads together.
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
    void give_all() noexcept; // to the others

private:
    coroutine_stack* first_ = nullptr;
    std::size_t count_ = 0;
};

// Member by member: as a whole, the compiler reads with one load what was written with two stores,
// and that waits.
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

// What an enterer has that must be the same again when the inside leaves: its forks, who it is, and
// its cancel scope, in one word. They do not lie so that two changes could cancel each other: forks
// are added by some words, the others are addresses of whole objects elsewhere.
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
    SENNIT_CHECK(as_entered(), "[SNT-302] a coroutine is suspended inside a fork, a scope with "
                               "children, a with_timeout or another fiber; "
                               "suspend it outside, or resume it where it began");
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
