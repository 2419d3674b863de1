// SPDX-License-Identifier: Apache-2.0
// The fork stack: the deque of forked children, by value, one a context. Its owner pays no fence,
// no locked instruction and no allocation; thieves take the oldest entries.
//
// Who uses it: `fork_join`, `fork_each`, `scope` and the parallel loops. Users of the library do
// not.
//
// State. A context owns an array of 64-byte slots, numbered from 0. A fork writes its child into
// the slot at `head` and advances `head`; a join takes it back. Forks are nested, so the slots are
// a stack from the owner's side:
//
//       0               top              split            head
//         | stolen, not  | public: thieves | private: only  | free
//         | yet joined   | may take        | the owner      |
//
// `{top, split}` is one 64-bit word (`context::forks`), changed by compare-and-swap while anything
// is public. `head` and a copy of `split` live, as addresses, in the hot line of the thread that
// runs the context. The slots lie above the context, as the stack of frames lies below it: they
// grow upwards, towards the guard of the next one.
//
// Protocol.
//  1. push (owner): write the slot, advance `head`, look at `steal_requested`. Not zero:
//  `push_fork_slow` publishes the older half of
//     the private slots by advancing `split`.
//  2. steal (thief): read `{top, split}`; if top < split, CAS to `{top + 1, split}`. Only then read
//  slot `top`.
//  3. pop (owner): take `head` back, then compare with `split`. Not older: the slot was private;
//  nobody else could
//     touch it. Older: `pop_fork_slow` takes the newer half of the public slots back by moving
//     `split` with a CAS, or learns that the slot was stolen.
//  4. force (thief, rare): the owner has private slots and does not look at `steal_requested`.
//  Under the context's lock: write
//     a claim (a number of the thief's own, above every address) into the owner's copy of `split`,
//     make every thread pass a barrier (membarrier), read `head`, see that the claim still stands.
//     From the barrier on the owner's every pop takes `pop_fork_slow`, which waits for the lock; so
//     what is older than that `head` stays where it is, and the thief may advance `split` for the
//     owner. A claim that no longer stands was overwritten by a move of the worker to another
//     context, or by the owner's slow path: then the thief gives up.
//
// Why it is right. Slots move between owner and thieves only by a CAS on the one word, so each is
// taken once. A thief reads a slot after its CAS, never before: a slot that was reused under an
// equal word is as good as the first one (no ABA). The owner wrote the slot before it advanced
// `split` (release) and the thief's CAS acquires it. Slots are stolen in order, so when slot i is
// gone every older one is gone, too: a join that must wait leaves nothing behind. In 4, the owner's
// `store head; load split` and the thief's `store split; barrier; load head` is Dekker's pattern
// with the owner's barrier moved into membarrier; one of them sees the other's store.
//
// Tried and rejected (fib(39), one worker, Zen 4, g++ 12 / clang 19; the chosen form takes 0.259 /
// 0.287 s):
//  * a linked list of records on the caller's stack with two polls: 0.286 / 0.317 s, and its repair
//  after a forced
//    publication is intricate;
//  * variable-size records with `head` re-read after the child: 0.412 / 0.417 s, since every push
//  and pop then hangs on
//    the store-to-load forwarding of the one before;
//  * an array of pointers to records on the stack: one store more, and the record's address
//  escapes, which keeps the
//    compilers from turning the second call into a loop.
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

// One forked child. `run` is called by a thief: it moves the closure out of `data`, runs it, and
// leaves the result in `data`, or the exception, in which case it returns true. `done` means
// something only while the slot is public or stolen (the publisher resets it).
struct alignas(base::cache_line) fork_slot {
    static constexpr std::size_t capacity = 48; // bytes of closure or result

    bool (*run)(fork_slot*) noexcept;
    union {
        one_shot done;
    };
    alignas(16) std::byte data[capacity];

    fork_slot() noexcept {} // nothing: a fork writes what it needs
    ~fork_slot() {}

    template <class T>
    T& as() noexcept {
        return *std::launder(
            reinterpret_cast<T*>(data)); // SAFETY: callers name the type that lives there
    }
};
static_assert(sizeof(fork_slot) == base::cache_line);

// Slow halves; in src/core/fork/fork_stack.cpp. All run on the owner's thread and context.
[[gnu::cold, gnu::noinline]] void push_fork_slow() noexcept;
// True: the caller owns the slot and runs (or drops) the child. False: it was stolen and has
// finished; may suspend.
[[gnu::cold, gnu::noinline]] bool pop_fork_slow(fork_slot* slot) noexcept;

// First free slot of the running context's fork stack; null on a thread that is no worker.
inline fork_slot* free_slot() noexcept {
    return static_cast<fork_slot*>(sys::tls_head());
}

inline void poll_steal_requests() noexcept;

// Makes `slot`, which must be `free_slot()` with `run` and `data` written, a fork of the running
// context.
inline void push_fork(fork_slot* slot) noexcept {
    base::annotate_write(slot);
    sys::tls_push_head<sizeof(fork_slot)>(slot);
    poll_steal_requests();
}

#ifdef SENNIT_STRESS
bool stress_now() noexcept; // now and then, as if a thief had asked
#else
constexpr bool stress_now() noexcept {
    return false;
}
#endif

// Publishes if a thief has asked.
inline void poll_steal_requests() noexcept {
    if (sys::tls_steal_requested() || stress_now()) [[unlikely]]
        push_fork_slow();
}

// Undoes the newest push. True: the child is the caller's to run. False: it ran elsewhere and its
// result is in the slot. Suspends the context while a thief is still at it.
inline bool pop_fork(fork_slot* slot) noexcept {
    sys::tls_set_head(slot);
    base::compiler_barrier(); // `store head; load split`: the processor's half is
                              // force_publication's membarrier
    if (sys::tls_before_split(slot)) [[unlikely]]
        return pop_fork_slow(slot);
    return true;
}

} // namespace sennit::sched
