// SPDX-License-Identifier: Apache-2.0
// The hot line: the one thread-local cache line that every fork and join touches.
//
// It holds where the running context's fork stack ends (`head`), where its private part begins (`split`), whether a
// thief asks for work (`poll`), and who runs here. `sched/fork_stack.hpp` says what the words mean and argues the
// protocol; this header only knows how to reach them without a trap:
//
// Compilers cache the *address* of a thread-local over a call, and a call may suspend and go on in another thread
// (llvm #98479, #111257, GCC PR26461). So no C++ expression here ever names the thread-local. On x86-64 every access is
// one volatile instruction relative to %fs; on other processors, and under ThreadSanitizer, which must see the
// accesses, the address is taken afresh by a volatile instruction or an opaque call and used once.
//
// Threads that are no workers see the initial values: `head` is null, which a fork tests before it writes its slot.
//
// Cost on x86-64: one instruction an access (two in code for shared libraries). Measured on fib(39), one worker,
// Zen 4: 0.259 s (g++ 12) and 0.287 s (clang 19), where a pointer to the context held in a register takes 0.305 and
// 0.304 s, and one re-read for each access 0.318 and 0.304 s.
#pragma once

#include "sennit/base/atomic.hpp"
#include "sennit/base/cache_line.hpp"
#include "sennit/base/sanitizers.hpp"

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && !defined(SENNIT_THREAD_SANITIZER) && !defined(SENNIT_SIMULATED_ATOMICS)
#define SENNIT_HOT_LINE_ASM 1
#endif

namespace sennit::sys {

struct alignas(base::cache_line) hot_line {
    base::atomic<void*> head{
        nullptr}; // +0:  first free slot of the running context's fork stack; owner writes, thieves read
    base::atomic<void*> split{nullptr};   // +8:  first private slot; owner writes, a forcing thief its claim
    base::atomic<std::uint32_t> poll{0};  // +16: not zero: take the slow path; thieves set, owner clears
    void* worker = nullptr;               // +24: engine's worker of this thread; owner only
    base::atomic<void*> context{nullptr}; // +32: context that runs here; owner writes, thieves read
    void* activity = nullptr;             // +40: who runs here (sched/activity.hpp); owner only
    void* exceptions = nullptr;           // +48: the thread's exception_globals; owner only; null: not asked for yet
    std::uintptr_t spare = 1;             // +56: a free piece of memory (sched/small_memory.hpp); 1: none is kept here
};
static_assert(sizeof(hot_line) == base::cache_line);

#ifdef SENNIT_HOT_LINE_ASM

extern "C" {
[[gnu::visibility("default")]] extern constinit thread_local hot_line sennit_hot_line;
}

// Position-independent code that may end in a shared library finds the offset through the GOT (initial-exec model); an
// executable, also a position-independent one, has it as a constant of the link (local-exec).
#if defined(SENNIT_SHARED) || (defined(__PIC__) && !defined(__PIE__))
#define SENNIT_HOT_VIA_GOT 1
#endif

inline void* hot_head() noexcept {
    void* value;
#ifdef SENNIT_HOT_VIA_GOT
    asm inline volatile("movq sennit_hot_line@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value));
#else
    asm inline volatile("movq %%fs:sennit_hot_line@tpoff, %0" : "=r"(value));
#endif
    return value;
}

// Both stores of `head` have release order: what a slot holds is written before thieves can see it behind `head` (x86
// keeps stores in order; the clobber keeps the compiler's hands off). They pair with the acquire load of `head` in
// fork_stack.cpp: force_publication.
inline void hot_set_head(void* value) noexcept {
#ifdef SENNIT_HOT_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_hot_line@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)"
                        : "=&r"(offset)
                        : "r"(value)
                        : "memory");
#else
    asm inline volatile("movq %0, %%fs:sennit_hot_line@tpoff" ::"r"(value) : "memory");
#endif
}

// head = slot + Bytes. The addition is part of the instruction sequence, because compilers would rather hold its
// result in a callee-saved register over the child's call, which costs more than computing it.
template <std::size_t Bytes>
inline void hot_push_head(void* slot) noexcept {
    void* next;
#ifdef SENNIT_HOT_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_hot_line@gottpoff(%%rip), %1\n\tleaq %c3(%2), %0\n\tmovq %0, %%fs:(%1)"
                        : "=&r"(next), "=&r"(offset)
                        : "r"(slot), "i"(Bytes)
                        : "memory");
#else
    asm inline volatile("leaq %c2(%1), %0\n\tmovq %0, %%fs:sennit_hot_line@tpoff"
                        : "=&r"(next)
                        : "r"(slot), "i"(Bytes)
                        : "memory");
#endif
}

inline bool hot_polled() noexcept {
#ifdef SENNIT_HOT_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_hot_line@gottpoff(%%rip), %0" : "=r"(offset));
    asm goto("cmpl $0, %%fs:16(%0)\n\tjne %l[polled]" ::"r"(offset) : "cc", "memory" : polled);
#else
    asm goto("cmpl $0, %%fs:sennit_hot_line@tpoff+16\n\tjne %l[polled]" ::: "cc", "memory" : polled);
#endif
    return false;
polled:
    return true;
}

// Whether `slot` is older than the private part, which begins at `split` and grows upwards.
inline bool hot_before_split(void* slot) noexcept {
#ifdef SENNIT_HOT_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_hot_line@gottpoff(%%rip), %0" : "=r"(offset));
    asm goto("cmpq %%fs:8(%1), %0\n\tjb %l[before]" ::"r"(slot), "r"(offset) : "cc", "memory" : before);
#else
    asm goto("cmpq %%fs:sennit_hot_line@tpoff+8, %0\n\tjb %l[before]" ::"r"(slot) : "cc", "memory" : before);
#endif
    return false;
before:
    return true;
}

inline void* hot_worker() noexcept {
    void* value;
#ifdef SENNIT_HOT_VIA_GOT
    asm inline volatile("movq sennit_hot_line@gottpoff(%%rip), %0\n\tmovq %%fs:24(%0), %0" : "=r"(value));
#else
    asm inline volatile("movq %%fs:sennit_hot_line@tpoff+24, %0" : "=r"(value));
#endif
    return value;
}

// A word of the own thread's, which changes with who runs here; `Offset` in bytes.
template <class T, std::size_t Offset>
inline T hot_own_word() noexcept {
    T value;
#ifdef SENNIT_HOT_VIA_GOT
    asm inline volatile("movq sennit_hot_line@gottpoff(%%rip), %0\n\tmovq %%fs:%c1(%0), %0"
                        : "=r"(value)
                        : "i"(Offset)
                        : "memory");
#else
    asm inline volatile("movq %%fs:sennit_hot_line@tpoff+%c1, %0" : "=r"(value) : "i"(Offset) : "memory");
#endif
    return value;
}
template <std::size_t Offset, class T>
inline void hot_set_own_word(T value) noexcept {
#ifdef SENNIT_HOT_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_hot_line@gottpoff(%%rip), %0\n\tmovq %1, %%fs:%c2(%0)"
                        : "=&r"(offset)
                        : "re"(value), "i"(Offset)
                        : "memory");
#else
    asm inline volatile("movq %0, %%fs:sennit_hot_line@tpoff+%c1" ::"re"(value), "i"(Offset) : "memory");
#endif
}

inline void* hot_context() noexcept {
    return hot_own_word<void*, 32>();
}
inline void* hot_activity() noexcept {
    return hot_own_word<void*, 40>();
}
inline void hot_set_activity(void* value) noexcept {
    hot_set_own_word<40>(value);
}
inline void* hot_exceptions() noexcept {
    return hot_own_word<void*, 48>();
}
inline std::uintptr_t hot_spare() noexcept {
    return hot_own_word<std::uintptr_t, 56>();
}
inline void hot_set_spare(std::uintptr_t value) noexcept {
    hot_set_own_word<56>(value);
}

inline hot_line& hot() noexcept {
    hot_line* self;
#ifdef SENNIT_HOT_VIA_GOT
    void* offset;
    asm volatile("movq sennit_hot_line@gottpoff(%%rip), %1\n\tmovq %%fs:0, %0\n\taddq %1, %0"
                 : "=&r"(self), "=&r"(offset));
#else
    asm volatile("movq %%fs:0, %0\n\tleaq sennit_hot_line@tpoff(%0), %0" : "=r"(self));
#endif
    return *self;
}

#else

// The calling thread's hot line. Opaque, so that no caller can keep the address over a suspension by accident; do not
// hold the reference over anything that may suspend.
[[gnu::noinline]] hot_line& hot() noexcept;

inline void* hot_head() noexcept {
    return hot().head.load_rlx(); // own thread's word
}
inline void hot_set_head(void* value) noexcept {
    hot().head.store_rel(value); // pairs with force_publication's load
}
template <std::size_t Bytes>
inline void hot_push_head(void* slot) noexcept {
    hot_set_head(static_cast<std::byte*>(slot) + Bytes);
}
inline bool hot_polled() noexcept {
    return hot().poll.load_rlx() != 0; // orders nothing: the slow path looks again
}
inline bool hot_before_split(void* slot) noexcept {
    return slot < hot().split.load_rlx(); // pairs through force_publication's membarrier
}
inline void* hot_worker() noexcept {
    return hot().worker;
}
inline void* hot_context() noexcept {
    return hot().context.load_rlx(); // own thread's word
}
inline void* hot_activity() noexcept {
    return hot().activity;
}
inline void hot_set_activity(void* value) noexcept {
    hot().activity = value;
}
inline void* hot_exceptions() noexcept {
    return hot().exceptions;
}
inline std::uintptr_t hot_spare() noexcept {
    return hot().spare;
}
inline void hot_set_spare(std::uintptr_t value) noexcept {
    hot().spare = value;
}

#endif

// The same by a call, so that a linker that optimises knows of the variable, which else only assembly names. A worker
// begins with it.
[[gnu::noinline]] hot_line& own_hot_line() noexcept;

// The address of the calling thread's hot line: no other thread has it.
inline void* hot_identity() noexcept {
    return &hot();
}

} // namespace sennit::sys
