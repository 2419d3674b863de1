// SPDX-License-Identifier: Apache-2.0
// The fork stack: a deque of forked children, stored by value; each context has one. The owner pays
// no fence, no locked instruction and no allocation. Thieves take the oldest entries.
//
// Used by `fork_join`, `fork_each`, `scope` and the parallel loops. Programs do not use it
// directly.
//
// State. A context owns an array of 64-byte slots, numbered from 0. A fork writes its child into
// the slot at `head` and advances `head`; a join takes the child back. Forks are nested, so for the
// owner the slots are a stack:
//
//       0               top              split            head
//         | stolen, not  | public: thieves | private: only  | free
//         | yet joined   | may take        | the owner      |
//
// `{top, split}` is one 64-bit word (`context::forks`), changed by compare-and-swap while any slot
// is public. `head` and a copy of `split` live, as addresses, in the worker TLS line of the thread
// that runs the context. The slots lie above the context, and the stack of frames lies below it.
// The slots grow upwards, towards the guard of the next context.
//
// Protocol.
// 1. push (owner): write the slot, advance `head`, read `steal_requested`. If it is not zero,
//    `push_fork_slow` publishes the older half of the private slots by advancing `split`.
// 2. steal (thief): read `{top, split}`. If top < split, CAS to `{top + 1, split}`. Only then read
//    slot `top`.
// 3. pop (owner): take `head` back, then compare the slot with `split`. A slot that is not older
//    than `split` was private: no other thread could touch it. For an older slot, `pop_fork_slow`
//    takes the newer half of the public slots back by moving `split` with a CAS, or learns that the
//    slot was stolen.
// 4. force (thief, rare): the owner has private slots and does not read `steal_requested`. Under
//    the context's lock the thief writes a claim (a number of its own, above every address) into
//    the owner's copy of `split`. Then it makes every thread pass a barrier (membarrier), reads
//    `head`, and checks that the claim still stands. From the barrier on, every pop of the owner
//    takes `pop_fork_slow`, which waits for the lock. So the slots older than that `head` stay in
//    place, and the thief may advance `split` for the owner. If the claim no longer stands, the
//    worker has moved to another context, or the owner has taken its slow path, and the thief gives
//    up. One barrier serves several owners: the thief takes their locks, writes all claims, passes
//    the barrier, and then does the rest for each. It waits for the first lock only, so two thieves
//    never wait for each other.
// 5. eager publication (owner): an owner that finds a claim in its slow path computes for long, or
//    has lost its processor. It keeps `steal_requested` set for a number of pushes, so each of them
//    publishes if nothing is public. The next thief then needs no force.
//
// Why it is correct. Slots pass between owner and thieves only by a CAS on `{top, split}`, so each
// slot is taken once. A thief reads a slot only after its CAS. So a slot that was reused under an
// equal word is as good as the first one (no ABA). The owner wrote the slot before it advanced
// `split` (release), and the thief's CAS acquires that. Slots are stolen in order: when slot i is
// gone, every older slot is gone, so a join that must wait leaves no stealable slot behind. In step
// 4, the owner's `store head; load split` and the thief's `store split; barrier; load head` are
// Dekker's pattern, with the owner's barrier moved into membarrier. One of the two sees the other's
// store.
//
// Tried and rejected (fib(39), one worker, Zen 4, g++ 12 / clang 19; the chosen form takes 0.259 /
// 0.287 s):
// * a linked list of records on the caller's stack with two polls: 0.286 / 0.317 s, and its repair
//   after a forced publication is intricate;
// * variable-size records with `head` re-read after the child: 0.412 / 0.417 s, because every push
//   and pop then depends on the store-to-load forwarding of the previous one;
// * an array of pointers to records on the stack: one more store, and the record's address escapes,
//   which keeps the compilers from turning the second call into a loop.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/base/race_annotations.hpp"
#include "sennit/detail/core/one_shot.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace sennit::sched {

// One forked child. A thief calls `run`, which moves the closure out of `data` and runs it. `run`
// leaves the result in `data`, or the exception, in which case it returns true. `done` has a
// meaning only while the slot is public or stolen: the publisher resets it.
struct alignas(base::cache_line) fork_slot {
    static constexpr std::size_t capacity = 48; // bytes of closure or result

    bool (*run)(fork_slot*) noexcept;
    union {
        one_shot done;
    };
    alignas(16) std::byte data[capacity];

    fork_slot() noexcept {} // initialises nothing: a fork writes the members that it needs
    ~fork_slot() {}

    template <class T>
    T& as() noexcept {
        // SAFETY: callers name the type of the object that lives there
        return *std::launder(reinterpret_cast<T*>(data));
    }
};
static_assert(sizeof(fork_slot) == base::cache_line);

// The slow paths, in src/core/fork/fork_stack.cpp. All run on the owner's thread and context.
[[gnu::cold, gnu::noinline]] void push_fork_slow() noexcept;
// True: the caller owns the slot and runs (or drops) the child. False: the slot was stolen and its
// child has finished. May suspend.
[[gnu::cold, gnu::noinline]] bool pop_fork_slow(fork_slot* slot) noexcept;

// First free slot of the running context's fork stack; null on a thread that is not a worker.
inline fork_slot* free_slot() noexcept {
    return static_cast<fork_slot*>(sys::tls_head());
}

inline void poll_steal_requests() noexcept;

// push_fork without its look for a request. The caller looks by `request_can_wait` afterwards.
inline void push_fork_quietly(fork_slot* slot) noexcept {
    base::annotate_write(slot);
    sys::tls_push_head<sizeof(fork_slot)>(slot);
}

// Makes `slot`, which must be `free_slot()` with `run` and `data` written, a fork of the running
// context.
inline void push_fork(fork_slot* slot) noexcept {
    push_fork_quietly(slot);
    poll_steal_requests();
}

#ifdef SENNIT_STRESS
bool stress_now() noexcept; // true from time to time, as if a thief had requested work
#else
constexpr bool stress_now() noexcept {
    return false;
}
#endif

// Publishes if a thief has requested work.
inline void poll_steal_requests() noexcept {
    if (sys::tls_steal_requested() || stress_now()) [[unlikely]]
        push_fork_slow();
}

// True if a thief has requested work, and the request is not answered yet.
inline bool steal_requested() noexcept {
    return sys::tls_steal_requested();
}

// True if a worker searches, and can force publication.
[[gnu::cold]] bool searcher_waits() noexcept;
// For an owner whose forks are cheaper than their theft. False: the owner must answer a request for
// work now (`poll_steal_requests`). True: there is none, or a worker searches. The searcher forces
// publication after some time, and before it parks: it stops being a searcher, passes the barrier
// of step 4, and then looks for private forks. The owner has pushed before it looks for searchers.
// So either the searcher finds the fork, or this function returns false. If the searcher becomes
// the late looker (src/core/README.md, "Two protocols"), its barrier comes up to 250 us later.
inline bool request_can_wait() noexcept {
    base::compiler_barrier();
    return !sys::tls_steal_requested() || searcher_waits();
}

// The first half of pop_fork. False: `slot` is public or stolen, and the caller must call
// pop_fork_slow, which may suspend.
inline bool try_pop_fork(fork_slot* slot) noexcept {
    sys::tls_set_head(slot);
    // The compiler's half of `store head; load split`. The processor's half is the membarrier in
    // force_publication.
    base::compiler_barrier();
    return !sys::tls_before_split(slot);
}

// Undoes the newest push. True: the caller runs the child. False: a thief ran the child, and its
// result is in the slot. Suspends the context while the thief still runs the child.
inline bool pop_fork(fork_slot* slot) noexcept {
    if (!try_pop_fork(slot)) [[unlikely]]
        return pop_fork_slow(slot);
    return true;
}

} // namespace sennit::sched
