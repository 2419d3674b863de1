// SPDX-License-Identifier: Apache-2.0
// Whether the calling thread is in company: while one thread alone works with the library, its
// locks and hand-overs need no locked instruction (7 ns each on a Xeon, and they wait for all
// stores before them).
//
// Who is a member. A thread becomes one at its first lock, and is one until it ends, or says that
// it will touch nothing for a while (`unregister_this_thread`: before it sleeps). A member that is
// the only one, and a worker, may `try_become_exclusive`: it then does what needs atomicity between
// `begin_exclusive` and `end_exclusive`, a handful of plain loads and stores.
//
// Protocol. One that joins ends the other's solitude: it writes `shared` into the other's word,
// makes every thread pass a barrier (membarrier), and waits until the other is not `busy`. The
// other says `busy`, then looks at its word: Dekker's pattern with the fence moved to the side that
// hardly ever comes, as in core/queues/biased_lock.hpp. So either the joining thread sees `busy`
// and waits, or the other sees that it is alone no more and takes the locked instruction. What the
// other wrote is carried by `busy` going to 0 (release, acquire); what members wrote before they
// left, by the company's gate and the word that says `exclusive` (the same). Between members all is
// as if this file were not there. Whoever writes a word by `elidable`, or between those two, must
// do so by that only, or before it is shared; a thread that is no member may read it. Orders are
// those of the names. A word that is told by a futex or guards against a thread that never joins
// does not belong here.
//
// Cost, alone: two loads and two stores of the own line; in company: a load more than the locked
// instruction. Joining: some 30 ns, and 1 to 20 us if it ends a solitude: 32 of them in a row, then
// one in 2 ms at most. Elsewhere than on x86-64, where there is no membarrier, and under
// ThreadSanitizer all threads are in company always. (Code with and code without ThreadSanitizer
// cannot be linked: see sennit/detail/sys/worker_tls.hpp.) After the single-threaded modes of
// libc's and libstdc++'s locks, which end for good with the first thread. Tested by
// tests/unit/base/single_threaded_test.cpp, explored by tests/sim.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/sanitizers.hpp"

#include <cstdint>

#if !defined(__x86_64__) || defined(SENNIT_THREAD_SANITIZER) || defined(SENNIT_SIMULATED_ATOMICS)
#define SENNIT_NO_LOCK_ELISION 1
#endif

namespace sennit::base {

// A thread's own.
struct thread_registration {
    enum : std::uint32_t { unregistered, exclusive, shared };
    atomic<std::uint32_t> mode{
        unregistered};             // +0: written by the thread, and by who ends its solitude
    atomic<std::uint32_t> busy{0}; // +4: written by the thread
    bool wants_exclusive = false;  // the thread's

    // True: it is alone until `end_exclusive`. False: it is in company, or has to join it.
    bool begin_exclusive() noexcept {
        if (mode.load_rlx() != exclusive) return false; // a hint
        busy.store_rlx(1);                              // pairs with the barrier of who joins
        compiler_barrier();
        if (mode.load_acq() == exclusive) return true; // with leave, and through that barrier
        busy.store_rlx(0);                             // carries nothing: it has done nothing
        return false;
    }
    void end_exclusive() noexcept { busy.store_rel(0); } // pairs with who waits for it
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
inline void try_become_exclusive(std::int64_t) noexcept {}
inline void reset_registration_after_fork() noexcept {}

#else

// In src/sys/single_threaded.cpp. None of them may be called with a lock of the library held.
void register_this_thread() noexcept; // the calling thread becomes a member; if it is one, nothing
void unregister_this_thread() noexcept; // is one no more, until it joins again
// A worker's, now and then; `now_ns` of the coarse clock. Two loads, as a rule.
void try_become_exclusive(std::int64_t now_ns) noexcept;
void reset_registration_after_fork() noexcept; // in the child

extern "C" {
[[gnu::visibility(
    "default")]] extern constinit thread_local thread_registration sennit_thread_registration;
}

// The thread-local is named by assembly only, for the reason that sennit/detail/sys/worker_tls.hpp
// gives.
#if defined(SENNIT_SHARED) || (defined(__PIC__) && !defined(__PIE__))
#define SENNIT_THREAD_REGISTRATION_VIA_GOT 1
#endif

[[gnu::always_inline]] inline void end_exclusive() noexcept {
#ifdef SENNIT_THREAD_REGISTRATION_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_thread_registration@gottpoff(%%rip), %0\n\tmovl $0, %%fs:4(%0)"
                        : "=r"(offset)::"memory");
#else
    asm inline volatile("movl $0, %%fs:sennit_thread_registration@tpoff+4" ::: "memory");
#endif
}

// True: the thread is alone until `end_exclusive`. False: it is in company, or no member yet
// (`this_thread_registered`).
[[gnu::always_inline]] inline bool begin_exclusive() noexcept {
#ifdef SENNIT_THREAD_REGISTRATION_VIA_GOT
    void* offset;
    asm inline volatile("movq sennit_thread_registration@gottpoff(%%rip), %0" : "=r"(offset));
    asm goto("cmpl $1, %%fs:(%0)\n\tjne %l[others]\n\tmovl $1, %%fs:4(%0)\n\tcmpl $1, "
             "%%fs:(%0)\n\tjne %l[no_more]"
             :
             : "r"(offset)
             : "cc", "memory"
             : others, no_more);
#else
    asm goto("cmpl $1, %%fs:sennit_thread_registration@tpoff\n\tjne %l[others]\n\tmovl $1, "
             "%%fs:sennit_thread_registration@tpoff+4\n\t"
             "cmpl $1, %%fs:sennit_thread_registration@tpoff\n\tjne %l[no_more]"
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
    asm goto("cmpl $0, %%fs:(%0)\n\tje %l[unregistered]" ::"r"(offset)
             : "cc", "memory"
             : unregistered);
#else
    asm goto("cmpl $0, %%fs:sennit_thread_registration@tpoff\n\tje %l[unregistered]" ::
                 : "cc", "memory"
             : unregistered);
#endif
    return true;
unregistered:
    return false;
}

#endif

// `elidable(word).cas_acq(…)` is the word's own operation of that name, or while the thread is
// alone a load and a store.
#ifdef SENNIT_SIMULATED_ATOMICS

template <class T>
atomic<T>& elidable(atomic<T>& word) noexcept {
    return word;
}

#else

template <class T>
class elidable {
public:
    explicit elidable(atomic<T>& word) noexcept : word_(word) {}

    [[gnu::always_inline]] bool cas_acq(T& expected, T desired) noexcept {
        return enter() ? cas_elided(expected, desired) : word_.cas_acq(expected, desired);
    }
    [[gnu::always_inline]] bool cas_rel(T& expected, T desired) noexcept {
        return enter() ? cas_elided(expected, desired) : word_.cas_rel(expected, desired);
    }
    [[gnu::always_inline]] bool cas_rlx(T& expected, T desired) noexcept {
        return enter() ? cas_elided(expected, desired) : word_.cas_rlx(expected, desired);
    }
    [[gnu::always_inline]] bool cas_acq_rel(T& expected, T desired) noexcept {
        return enter() ? cas_elided(expected, desired) : word_.cas_acq_rel(expected, desired);
    }
    [[gnu::always_inline]] T fetch_sub_acq_rel(T delta) noexcept {
        if (!enter()) return word_.fetch_sub_acq_rel(delta);
        const T seen = word_.load_acq(); // pairs as the locked instruction would
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
        const T seen = word_.load_acq(); // pairs as the locked instruction would
        const bool same = seen == expected;
        if (same)
            word_.store_rel(desired); // as above
        else
            expected = seen;
        end_exclusive();
        return same;
    }
    atomic<T>& word_;
};

#endif

} // namespace sennit::base
