// SPDX-License-Identifier: Apache-2.0
// Plain updates: elides the locked instructions of locks and hand-overs where only one thread needs
// them. A locked instruction costs 7 ns on a Xeon, and it waits for all earlier stores.
//
// Two cases are elided:
// * **Single-thread mode.** One thread works with the library, and all other threads sleep or have
//   never used it. That thread is *exclusive*: it updates every elidable word plainly, as a handful
//   of loads and stores.
// * **Bias.** Several threads work with the library, but a lock is used by one of them. The upper
//   16 bits of such a *biasable word* (biased_word.hpp) name the thread that may update it plainly.
//   In a word that is *neutral* they are 0, and threads update it by locked instructions.
//
// Registration. A thread registers at its first lock. It stays registered until it ends, or until
// it declares that it will touch nothing for a while (`unregister_this_thread`, before it sleeps).
// A worker calls `try_become_exclusive`. It becomes exclusive whenever it is the only registered
// thread, and it is given a *bias id*, by which words can be biased to it.
//
// Protocol. Each thread has a `key`: the upper half of the words that it may update plainly. The
// key is 0 for an exclusive thread, the bias id for other workers, and a value that no word holds
// for all other threads. A thread updates a word plainly:
// E1. It sets its `busy` word.
// E2. It reads its `key` (acquire), then the word. If the upper bits of the word are the key, it
//     uses plain loads and stores. Otherwise it clears `busy` and takes the locked instruction.
// E3. It clears `busy` (release) when its section ends.
// Another thread ends that right, for all words (a thread registers while the owner is exclusive)
// or for one word (a thread needs a word that is biased to the owner):
// R1. It changes the owner's `key`.
// R2. It counts this suspension, and waits for about 2 us until the owner has seen the number. The
//     owner says so (release) where it waits for the gate, outside of sections. Otherwise it makes
//     every thread pass a barrier (membarrier).
// R3. It waits until the owner's `busy` is 0 (acquire).
// R4. For one word: it makes the word neutral, and gives the key back (release).
// All of these steps are taken under one lock of the process, the gate.
//
// Why it is correct. E1, E2 and R1, R2, R3 are Dekker's pattern, with the fence moved to the side
// that runs rarely, as in core/queues/biased_lock.hpp. If the owner sets `busy` before the barrier,
// R3 sees that and waits for E3. Otherwise it reads its key after the barrier. Then it sees the
// changed key; or it sees the key that R4 has given back, and, because it reads the word after the
// key, the neutral word. An owner that has seen the number of the suspension waits for the gate
// before its next section, and so until R4. E3 and R3 publish the writes of the owner, and so does
// R2. The gate and the key, with release and acquire, publish the writes that other threads made
// before.
// * A word that names a thread is updated by that thread only: a locked instruction expects 0 in
//   the upper bits, and fails. Only the holder of a lock biases its word, and only to itself
//   (`request_bias`).
// * The owner may sleep: then it is unregistered, and needs no barrier, because it registers under
//   the gate. It may have ended: then its id has no owner. An id may get a new owner, which takes
//   over the words of the old one; the gate orders the two.
// In shared mode, all operations on neutral words behave as if this file did not exist. A word that
// is written through `elidable`, or between `begin_exclusive` and `end_exclusive`, must be written
// only in that way, or before it is shared. An unregistered thread may read it. The memory orders
// are the ones in the names. A word that a futex waits on, or that guards against a thread that
// never registers, must not use this file.
//
// Cost. A plain update: two loads and two stores of the thread's own cache line. A neutral word:
// these and the locked instruction. Registering costs about 30 ns, and 1 to 20 us if it ends
// exclusive mode. The end of a word's bias costs 0.3 us if the owner uses its words all the time,
// and 2 us and a barrier otherwise. Exclusive mode may end 32 times in a row, after that at most
// once in 2 ms. A word is biased after 32 locks by one thread in a row, and after each loss of its
// bias four times as many; 256 words in a row, after that one word in 1 ms. If eight words lose
// their bias within 4 ms, their owner takes a new id. So one barrier frees all words with the old
// one.
//
// On processors other than x86-64, and where membarrier is not available, all threads are always in
// shared mode, and all words are neutral. (Code with and without ThreadSanitizer cannot be linked
// together: see sennit/detail/sys/worker_tls.hpp.) The design follows the single-threaded modes of
// the locks in libc and libstdc++, which end for good when the first thread starts; and the lock
// reservation of Kawachiya, Koseki, Onodera (OOPSLA 2002), with an owner that is stopped by
// membarrier.
//
// Checked builds. The assembly below is a translation of `thread_registration::begin_exclusive`,
// `update` and `end_exclusive`. ThreadSanitizer and the explorer see no assembly, so their builds
// call these functions (SENNIT_SWITCHED_LOCK_ELISION). The elision is off there until a test asks
// for it, because a thread that registers synchronizes with all others, and this hides a missing
// order of a lock. The explorer switches it on for a scenario (`bounds::elision`).
// ThreadSanitizer's tests run once without it and once with it (`switch_lock_elision_on`, stage
// `tsan-elided` of tests/run).
//
// ThreadSanitizer needs no annotation. It runs the real membarrier, so E1, E2 and R1, R2, R3
// exclude each other. It does not know that a membarrier orders memory, but each order that data
// needs is a release and an acquire that it does see: E3 with R3, the gift of a key with E2, and
// the gate's unlock with its lock. One order is the exception. A failing E2 of an exclusive thread
// clears `busy` with a relaxed store, and R3 may read that store. The sections before it are then
// ordered by the barrier alone. ThreadSanitizer keeps the word's last release across a relaxed
// store, so it reports no race there. It cannot see a missing membarrier, because it does not model
// store buffers; the explorer does (mutant "barrier at the end of exclusive mode").
//
// Tested by tests/unit/base/single_threaded_test.cpp and biased_word_test.cpp, explored by
// tests/sim/scenarios/single_threaded.cpp and biased_word.cpp (the protocol) and lock_elision.cpp
// (its users).
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/sanitizers.hpp"

#include <cstdint>

#if defined(SENNIT_SIMULATOR) || (defined(SENNIT_THREAD_SANITIZER) && defined(__x86_64__))
#define SENNIT_SWITCHED_LOCK_ELISION 1
#elif !defined(__x86_64__) || defined(SENNIT_SIMULATED_ATOMICS)
#define SENNIT_NO_LOCK_ELISION 1
#endif

// A further parameter, and the argument for it: the place in the program that performs an atomic
// operation. Only the explorer's atomics have it (tests/sim/explorer/atomic.hpp).
#ifndef SENNIT_PLACE_PARAMETER
#define SENNIT_PLACE_PARAMETER
#define SENNIT_PLACE_ARGUMENT
#endif

namespace sennit::base {

// The registration of one thread. It is a thread-local of that thread.
struct thread_registration {
    // The values of `key` that are not a bias id in the upper half. No word holds the last two.
    enum : std::uint32_t { exclusive = 0, shared = 0xFFFE0000, unregistered = 0xFFFF0000 };
    // Offset 0. Written by the thread itself, and by threads that end its right to plain updates.
    atomic<std::uint32_t> key{unregistered};
    // Offset 4. Written only by the thread itself.
    atomic<std::uint32_t> busy{0};
    // Offset 8. The bias id; 0: none. Written under the gate.
    atomic<std::uint16_t> id{0};
    // True once the thread has asked for exclusive mode. Only the thread itself accesses it.
    bool wants_exclusive = false;
    // The thread's place among the candidates for exclusive mode; guarded by the gate.
    std::uint8_t candidate = no_candidate;
    static constexpr std::uint8_t no_candidate = 255;
    // Requests for a bias. Only the thread itself accesses it.
    std::uint32_t requests = 0;
    // The number of times that another thread has suspended the right to plain updates; written
    // under the gate. The number that the thread has seen outside of a section; written by itself.
    atomic<std::uint32_t> suspended{0};
    atomic<std::uint32_t> seen_suspended{0};
    // Guarded by the gate: the end of the time in which the words that lost their bias are counted,
    // and their number.
    std::int64_t counted_until_ns = 0;
    std::uint32_t lost = 0;

    // True: the thread is exclusive until `end_exclusive`. False: it is in shared mode, or it is
    // not registered.
    bool begin_exclusive() noexcept {
        // A hint: the second look decides.
        if (key.load_rlx() != exclusive) return false;
        busy.store_rlx(1); // pairs through the barrier in single_thread_mode::lock_out
        compiler_barrier();
        // Pairs with the release of the gate's grant, and through that barrier with lock_out.
        if (key.load_acq() == exclusive) return true;
        busy.store_rlx(0); // orders nothing: the thread has written nothing
        return false;
    }
    void end_exclusive() noexcept { busy.store_rel(0); } // pairs: lock_out
    // Replaces `expected` by `desired` in the lower bits of a word whose upper bits are the key.
    // False: they are not, or the lower bits are not as expected.
    template <class T>
    bool update(atomic<T>& word, T expected, T desired) noexcept {
        busy.store_rlx(1); // pairs through the barrier in single_thread_mode::lock_out
        compiler_barrier();
        // The order of the two loads matters. The first one pairs with the end of a lock-out.
        const T upper = static_cast<T>(T{key.load_acq()} << (8 * sizeof(T) - 32));
        // Orders nothing: no other thread has written the word since this one was given its key.
        if (word.load_rlx() != (upper | expected)) {
            // The thread may have unlocked a biased word since its last section: this publishes it.
            end_exclusive();
            return false;
        }
        word.store_rlx(upper | desired); // published by end_exclusive
        end_exclusive();
        return true;
    }
};

#ifdef SENNIT_NO_LOCK_ELISION

inline bool begin_exclusive() noexcept {
    return false;
}
inline bool this_thread_registered() noexcept {
    return true;
}
inline void end_exclusive() noexcept {}
inline void register_this_thread() noexcept {}
inline void unregister_this_thread() noexcept {}
inline void end_registration() noexcept {}
inline void leave_exclusive_mode() noexcept {}
inline void try_become_exclusive(std::int64_t) noexcept {}
inline void reset_registration_after_fork() noexcept {}
template <class T>
bool update_plainly(atomic<T>&, T, T) noexcept {
    return false;
}
inline std::uint32_t own_bias_id() noexcept {
    return 0;
}

#else

// The next four are defined in src/sys/single_threaded.cpp. A caller must not hold a lock of the
// library.
// Registers the calling thread. Does nothing if the thread is registered.
void register_this_thread() noexcept;
// Unregisters the calling thread until it registers again.
void unregister_this_thread() noexcept;
// Unregisters a thread that has asked for exclusive mode, before it ends. The thread asks no more.
void end_registration() noexcept;
// Ends the exclusive mode of the calling thread, before it wakes a thread that would end it by a
// barrier. It asks again later. Does nothing in shared mode, for one load.
void leave_exclusive_mode() noexcept;
// Asks for exclusive mode. A thread that asks calls `end_registration` before it ends: another
// thread may write its registration until then. A worker calls it from time to time; `now_ns` is a
// time of the coarse clock. Usually costs two loads.
void try_become_exclusive(std::int64_t now_ns) noexcept;
// Resets the registration in the child after fork().
void reset_registration_after_fork() noexcept;

#ifdef SENNIT_SWITCHED_LOCK_ELISION

// The calling thread's registration; null while the elision is switched off. The function is
// opaque, so that no caller keeps the address over a suspension by accident.
[[gnu::noinline]] thread_registration* own_registration() noexcept;
#ifndef SENNIT_SIMULATOR
// Switches the elision on for the rest of the process. No thread may have taken a lock before.
void switch_lock_elision_on() noexcept;
#endif

inline void end_exclusive() noexcept {
    own_registration()->end_exclusive();
}
inline bool begin_exclusive() noexcept {
    thread_registration* const me = own_registration();
    return me && me->begin_exclusive();
}
inline bool this_thread_registered() noexcept {
    const thread_registration* const me = own_registration();
    return !me || me->key.load_rlx() != thread_registration::unregistered; // own thread
}
template <class T>
bool update_plainly(atomic<T>& word, T expected, T desired) noexcept {
    thread_registration* const me = own_registration();
    return me && me->update(word, expected, desired);
}
inline std::uint32_t own_bias_id() noexcept {
    const thread_registration* const me = own_registration();
    return me ? me->id.load_rlx() : 0; // a hint
}

#else

extern "C" {
[[gnu::visibility(
    "default")]] extern constinit thread_local thread_registration sennit_thread_registration;
}

// Only assembly names the thread-local, for the reason that sennit/detail/sys/worker_tls.hpp gives.
#if defined(SENNIT_SHARED) || (defined(__PIC__) && !defined(__PIE__))
#define SENNIT_THREAD_REGISTRATION_VIA_GOT 1
#endif

// The clobber keeps earlier accesses before the store, as the processor does.
[[gnu::always_inline]] inline void end_exclusive() noexcept {
#ifdef SENNIT_THREAD_REGISTRATION_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_thread_registration@gottpoff(%%rip), %0\n\tmovl $0, %%fs:4(%0)"
                        : "=r"(offset)::"memory");
#else
    asm inline volatile("movl $0, %%fs:sennit_thread_registration@tpoff+4" ::: "memory");
#endif
}

// True: the thread is exclusive until `end_exclusive`. False: it is in shared mode, or it is not
// registered yet (`this_thread_registered`).
[[gnu::always_inline]] inline bool begin_exclusive() noexcept {
#ifdef SENNIT_THREAD_REGISTRATION_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_thread_registration@gottpoff(%%rip), %0" : "=r"(offset));
    asm goto("cmpl $0, %%fs:(%0)\n\tjne %l[others]\n\tmovl $1, %%fs:4(%0)\n\tcmpl $0, "
             "%%fs:(%0)\n\tjne %l[no_more]"
             :
             : "r"(offset)
             : "cc", "memory"
             : others, no_more);
#else
    asm goto("cmpl $0, %%fs:sennit_thread_registration@tpoff\n\tjne %l[others]\n\tmovl $1, "
             "%%fs:sennit_thread_registration@tpoff+4\n\t"
             "cmpl $0, %%fs:sennit_thread_registration@tpoff\n\tjne %l[no_more]"
             :
             :
             : "cc", "memory"
             : others, no_more);
#endif
    return true;
no_more:
    end_exclusive();
others:
    return false;
}

[[gnu::always_inline]] inline bool this_thread_registered() noexcept {
#ifdef SENNIT_THREAD_REGISTRATION_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_thread_registration@gottpoff(%%rip), %0" : "=r"(offset));
    asm goto("cmpl $0xffff0000, %%fs:(%0)\n\tje %l[unregistered]" ::"r"(offset)
             : "cc", "memory"
             : unregistered);
#else
    asm goto("cmpl $0xffff0000, %%fs:sennit_thread_registration@tpoff\n\tje %l[unregistered]" ::
                 : "cc", "memory"
             : unregistered);
#endif
    return true;
unregistered:
    return false;
}

// E1 and the first half of E2: returns the key of the calling thread.
[[gnu::always_inline]] inline std::uint32_t begin_update() noexcept {
    std::uint32_t key;
#ifdef SENNIT_THREAD_REGISTRATION_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_thread_registration@gottpoff(%%rip), %1\n\t"
                        "movl $1, %%fs:4(%1)\n\tmovl %%fs:(%1), %0"
                        : "=&r"(key), "=&r"(offset)::"memory");
#else
    asm inline volatile("movl $1, %%fs:sennit_thread_registration@tpoff+4\n\t"
                        "movl %%fs:sennit_thread_registration@tpoff, %0"
                        : "=r"(key)::"memory");
#endif
    return key;
}
template <class T>
[[gnu::always_inline]] inline bool update_plainly(atomic<T>& word, T expected, T desired) noexcept {
    const T upper = static_cast<T>(T{begin_update()} << (8 * sizeof(T) - 32));
    // Orders nothing: no other thread has written the word since this one was given its key.
    if (word.load_rlx() != (upper | expected)) [[unlikely]] {
        end_exclusive();
        return false;
    }
    word.store_rlx(upper | desired); // published by end_exclusive
    end_exclusive();
    return true;
}
[[gnu::always_inline]] inline std::uint32_t own_bias_id() noexcept {
    std::uint32_t id;
#ifdef SENNIT_THREAD_REGISTRATION_VIA_GOT
    asm inline volatile("movq sennit_thread_registration@gottpoff(%%rip), %q0\n\t"
                        "movzwl %%fs:8(%q0), %0"
                        : "=r"(id));
#else
    asm inline volatile("movzwl %%fs:sennit_thread_registration@tpoff+8, %0" : "=r"(id));
#endif
    return id;
}

#endif
#endif

// `elidable(word).cas_acq(…)` is the word's own operation of that name in shared mode. In exclusive
// mode it is a load and a store.
template <class T>
class elidable {
public:
    explicit elidable(atomic<T>& word) noexcept : word_(word) {}

    [[gnu::always_inline]] bool cas_acq(T& expected, T desired SENNIT_PLACE_PARAMETER) noexcept {
        return enter() ? cas_elided(expected, desired)
                       : word_.cas_acq(expected, desired SENNIT_PLACE_ARGUMENT);
    }
    [[gnu::always_inline]] bool cas_rel(T& expected, T desired SENNIT_PLACE_PARAMETER) noexcept {
        return enter() ? cas_elided(expected, desired)
                       : word_.cas_rel(expected, desired SENNIT_PLACE_ARGUMENT);
    }
    [[gnu::always_inline]] bool cas_rlx(T& expected, T desired SENNIT_PLACE_PARAMETER) noexcept {
        return enter() ? cas_elided(expected, desired)
                       : word_.cas_rlx(expected, desired SENNIT_PLACE_ARGUMENT);
    }
    [[gnu::always_inline]] bool cas_acq_rel(T& expected,
                                            T desired SENNIT_PLACE_PARAMETER) noexcept {
        return enter() ? cas_elided(expected, desired)
                       : word_.cas_acq_rel(expected, desired SENNIT_PLACE_ARGUMENT);
    }
    [[gnu::always_inline]] T fetch_sub_acq_rel(T delta SENNIT_PLACE_PARAMETER) noexcept {
        if (!enter()) return word_.fetch_sub_acq_rel(delta SENNIT_PLACE_ARGUMENT);
        const T seen = word_.load_acq(); // pairs like the locked instruction
        word_.store_rel(static_cast<T>(seen - delta));
        end_exclusive();
        return seen;
    }

private:
    [[gnu::always_inline]] static bool enter() noexcept {
        if (begin_exclusive()) return true;
        if (!this_thread_registered()) [[unlikely]]
            register_this_thread();
        return false;
    }
    [[gnu::always_inline]] bool cas_elided(T& expected, T desired) noexcept {
        const T seen = word_.load_acq(); // pairs like the locked instruction
        const bool same = seen == expected;
        if (same)
            word_.store_rel(desired); // pairs like the locked instruction
        else
            expected = seen;
        end_exclusive();
        return same;
    }
    atomic<T>& word_;
};

} // namespace sennit::base
