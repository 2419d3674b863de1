// SPDX-License-Identifier: Apache-2.0
// The worker TLS line: the one thread-local cache line that every fork and join touches.
//
// It holds the end of the running context's fork stack (`head`), the start of the private part of
// that stack (`split`), a thief's request for work (`steal_requested`), and the running strand.
// `detail/core/fork_stack.hpp` defines the words and argues the protocol. This header only reaches
// the words without the following trap.
//
// Compilers cache the *address* of a thread-local over a call, and a call may suspend and continue
// in another thread (llvm #98479, #111257, GCC PR26461). So no C++ expression here names the
// thread-local. On x86-64 every access is one volatile instruction relative to %fs. On other
// processors, and under ThreadSanitizer, which must see the accesses, a volatile instruction or an
// opaque call computes the address for each use.
//
// Threads that are not workers see the initial values: `head` is null, and a fork tests for null
// before it writes its slot.
//
// Cost on x86-64: one instruction for each access (two in code for shared libraries). Measured on
// fib(39), one worker, Zen 4: 0.259 s (g++ 12) and 0.287 s (clang 19). A pointer to the context
// that is held in a register takes 0.305 and 0.304 s, and a pointer that is read again for each
// access takes 0.318 and 0.304 s.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/base/sanitizers.hpp"

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && !defined(SENNIT_THREAD_SANITIZER) && !defined(SENNIT_SIMULATED_ATOMICS)
#define SENNIT_WORKER_TLS_ASM 1
#endif

namespace sennit::sys {

struct alignas(base::cache_line) worker_tls {
    // In `steal_requested`: other tasks wait for a turn of this worker. Also a request for forks.
    static constexpr std::uint32_t turn_request = 2;

    // Offset 0: the first free slot of the running context's fork stack. The owner writes it;
    // thieves read it.
    base::atomic<void*> head{nullptr};
    // Offset 8: the first private slot. The owner writes it; a thief that forces a publication
    // writes its claim.
    base::atomic<void*> split{nullptr};
    // Offset 16: requests of other threads. If not zero, a fork takes the slow path. Thieves store
    // 1; the watchdog stores `turn_request`; the owner clears it.
    base::atomic<std::uint32_t> steal_requested{0};
    // Offset 20: the low half of the stack address at which the running task was resumed, or any
    // number: detail/core/task_transfer.hpp. Owner only.
    std::uint32_t task_base = 0;
    // Offset 24: the worker of this thread. Owner only.
    void* worker = nullptr;
    // Offset 32: the context that runs on this thread. The owner writes it; thieves read it.
    base::atomic<void*> context{nullptr};
    // Offset 40: the running strand (detail/core/strand.hpp). Owner only.
    void* strand = nullptr;
    // Offset 48: the thread's exception_globals, or null before their first use. Owner only.
    void* exceptions = nullptr;
    // Offset 56: a free block (detail/core/slab_cache.hpp); 0 if there is none; 1 on a thread that
    // keeps no block here.
    std::uintptr_t spare_block = 1;
};
static_assert(sizeof(worker_tls) == base::cache_line);

#ifdef SENNIT_WORKER_TLS_ASM

extern "C" {
[[gnu::visibility("default")]] extern constinit thread_local worker_tls sennit_worker_tls;
}

// Position-independent code that may end up in a shared library reads the offset from the GOT
// (initial-exec model). In an executable, position-independent or not, the offset is a link-time
// constant (local-exec).
#if defined(SENNIT_SHARED) || (defined(__PIC__) && !defined(__PIE__))
#define SENNIT_WORKER_TLS_VIA_GOT 1
#endif

inline void* tls_head() noexcept {
    void* value;
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0"
                        : "=r"(value));
#else
    asm inline volatile("movq %%fs:sennit_worker_tls@tpoff, %0" : "=r"(value));
#endif
    return value;
}

// Both stores of `head` have release order: the contents of a slot are written before thieves can
// see the slot below `head`. (x86 keeps stores in order; the clobber restrains the compiler.) They
// pair with the acquire load of `head` in fork_stack.cpp: force_publication.
inline void tls_set_head(void* value) noexcept {
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)"
                        : "=&r"(offset)
                        : "r"(value)
                        : "memory");
#else
    asm inline volatile("movq %0, %%fs:sennit_worker_tls@tpoff" ::"r"(value) : "memory");
#endif
}

// Sets head = slot + Bytes. The addition is part of the instruction sequence. Otherwise compilers
// hold its result in a callee-saved register over the child's call, which costs more than computing
// it.
template <std::size_t Bytes>
inline void tls_push_head(void* slot) noexcept {
    void* next;
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    void* offset;
    asm inline volatile(
        "movq sennit_worker_tls@gottpoff(%%rip), %1\n\tleaq %c3(%2), %0\n\tmovq %0, %%fs:(%1)"
        : "=&r"(next), "=&r"(offset)
        : "r"(slot), "i"(Bytes)
        : "memory");
#else
    asm inline volatile("leaq %c2(%1), %0\n\tmovq %0, %%fs:sennit_worker_tls@tpoff"
                        : "=&r"(next)
                        : "r"(slot), "i"(Bytes)
                        : "memory");
#endif
}

inline bool tls_steal_requested() noexcept {
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %0" : "=r"(offset));
    asm goto("cmpl $0, %%fs:16(%0)\n\tjne %l[polled]" ::"r"(offset) : "cc", "memory" : polled);
#else
    asm goto("cmpl $0, %%fs:sennit_worker_tls@tpoff+16\n\tjne %l[polled]" ::
                 : "cc", "memory"
             : polled);
#endif
    return false;
polled:
    return true;
}

// True if `steal_requested` is `turn_request`.
inline bool tls_turn_requested() noexcept {
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %q0" : "=r"(offset));
    asm goto("cmpl $%c1, %%fs:16(%0)\n\tje %l[requested]"
             :
             : "r"(offset), "i"(worker_tls::turn_request)
             : "cc", "memory"
             : requested);
#else
    asm goto("cmpl $%c0, %%fs:sennit_worker_tls@tpoff+16\n\tje %l[requested]"
             :
             : "i"(worker_tls::turn_request)
             : "cc", "memory"
             : requested);
#endif
    return false;
requested:
    return true;
}

// True if `slot` is older than the private part, which begins at `split` and grows upwards.
inline bool tls_before_split(void* slot) noexcept {
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %0" : "=r"(offset));
    asm goto("cmpq %%fs:8(%1), %0\n\tjb %l[before]" ::"r"(slot), "r"(offset)
             : "cc", "memory"
             : before);
#else
    asm goto("cmpq %%fs:sennit_worker_tls@tpoff+8, %0\n\tjb %l[before]" ::"r"(slot)
             : "cc", "memory"
             : before);
#endif
    return false;
before:
    return true;
}

inline void* tls_worker() noexcept {
    void* value;
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %0\n\tmovq %%fs:24(%0), %0"
                        : "=r"(value));
#else
    asm inline volatile("movq %%fs:sennit_worker_tls@tpoff+24, %0" : "=r"(value));
#endif
    return value;
}

// A word of the calling thread's line that changes with the running context; `Offset` in bytes.
template <class T, std::size_t Offset>
inline T tls_own_word() noexcept {
    T value;
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %0\n\tmovq %%fs:%c1(%0), %0"
                        : "=r"(value)
                        : "i"(Offset)
                        : "memory");
#else
    asm inline volatile("movq %%fs:sennit_worker_tls@tpoff+%c1, %0"
                        : "=r"(value)
                        : "i"(Offset)
                        : "memory");
#endif
    return value;
}
template <std::size_t Offset, class T>
inline void tls_set_own_word(T value) noexcept {
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %0\n\tmovq %1, %%fs:%c2(%0)"
                        : "=&r"(offset)
                        : "re"(value), "i"(Offset)
                        : "memory");
#else
    asm inline volatile("movq %0, %%fs:sennit_worker_tls@tpoff+%c1" ::"re"(value), "i"(Offset)
                        : "memory");
#endif
}

inline std::uint32_t tls_task_base() noexcept {
    std::uint32_t value;
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_worker_tls@gottpoff(%%rip), %1\n\tmovl %%fs:20(%1), %0"
                        : "=r"(value), "=&r"(offset));
#else
    asm inline volatile("movl %%fs:sennit_worker_tls@tpoff+20, %0" : "=r"(value));
#endif
    return value;
}

inline void* tls_context() noexcept {
    return tls_own_word<void*, 32>();
}
inline void* tls_strand() noexcept {
    return tls_own_word<void*, 40>();
}
inline void tls_set_strand(void* value) noexcept {
    tls_set_own_word<40>(value);
}
inline void* tls_exceptions() noexcept {
    return tls_own_word<void*, 48>();
}
inline std::uintptr_t tls_spare_block() noexcept {
    return tls_own_word<std::uintptr_t, 56>();
}
inline void tls_set_spare_block(std::uintptr_t value) noexcept {
    tls_set_own_word<56>(value);
}

inline worker_tls& tls() noexcept {
    worker_tls* self;
#ifdef SENNIT_WORKER_TLS_VIA_GOT
    void* offset;
    asm volatile("movq sennit_worker_tls@gottpoff(%%rip), %1\n\tmovq %%fs:0, %0\n\taddq %1, %0"
                 : "=&r"(self), "=&r"(offset));
#else
    asm volatile("movq %%fs:0, %0\n\tleaq sennit_worker_tls@tpoff(%0), %0" : "=r"(self));
#endif
    return *self;
}

#else

// The calling thread's worker TLS line. The function is opaque, so that no caller keeps the address
// over a suspension by accident. Do not hold the reference over anything that may suspend.
[[gnu::noinline]] worker_tls& tls() noexcept;

inline void* tls_head() noexcept {
    return tls().head.load_rlx(); // own thread's word
}
inline void tls_set_head(void* value) noexcept {
    tls().head.store_rel(value); // pairs with force_publication's load
}
template <std::size_t Bytes>
inline void tls_push_head(void* slot) noexcept {
    tls_set_head(static_cast<std::byte*>(slot) + Bytes);
}
inline bool tls_steal_requested() noexcept {
    return tls().steal_requested.load_rlx() != 0; // orders nothing: the slow path looks again
}
inline bool tls_turn_requested() noexcept {
    // orders nothing: a hint
    return tls().steal_requested.load_rlx() == worker_tls::turn_request;
}
inline bool tls_before_split(void* slot) noexcept {
    return slot < tls().split.load_rlx(); // pairs through force_publication's membarrier
}
inline void* tls_worker() noexcept {
    return tls().worker;
}
inline std::uint32_t tls_task_base() noexcept {
    return tls().task_base;
}
inline void* tls_context() noexcept {
    return tls().context.load_rlx(); // own thread's word
}
inline void* tls_strand() noexcept {
    return tls().strand;
}
inline void tls_set_strand(void* value) noexcept {
    tls().strand = value;
}
inline void* tls_exceptions() noexcept {
    return tls().exceptions;
}
inline std::uintptr_t tls_spare_block() noexcept {
    return tls().spare_block;
}
inline void tls_set_spare_block(std::uintptr_t value) noexcept {
    tls().spare_block = value;
}

#endif

// Returns the calling thread's line through a call, so that an optimising linker knows of the
// variable, which otherwise only assembly names. A worker calls it when it starts.
[[gnu::noinline]] worker_tls& own_worker_tls() noexcept;

// The address of the calling thread's worker TLS line, which no other thread has.
inline void* tls_identity() noexcept {
    return &tls();
}

} // namespace sennit::sys
