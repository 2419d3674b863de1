// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections of a handful of instructions that never block. A waiter spins.
//
// It meets the standard's Lockable, so std::lock_guard works. Never hold it over a suspension, a
// system call or user code. Under oversubscription the holder may be off the processor, so a waiter
// yields after some rounds. Cost: one locked instruction, or none while only one thread works with
// the library (sennit/detail/sys/single_threaded.hpp).
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <cstdint>

namespace sennit::base {

// Pauses the processor, or calls sched_yield once `round` is large (src/sys/spin_pause.cpp).
void spin_pause(unsigned round) noexcept;

// The number of times that the calling thread found a lock taken, and the note of one such time.
// They tell a worker that its tasks and those of another worker use the same objects.
std::uint32_t contended_locks() noexcept;
void note_contended_lock() noexcept;

template <class Word>
class basic_spin_lock {
public:
    // The common case of `lock`, which calls no function. False: the caller must call `lock`.
    bool lock_now() noexcept {
        if (begin_exclusive()) {
            word_.store_rlx(1); // published by end_exclusive
            end_exclusive();
            return true;
        }
        // Pairs with unlock.
        return this_thread_registered() && word_.exchange_acq(1) == 0;
    }
    // The exchange is not preceded by a load. The lock is usually free, and waiting for the load
    // would cost 1 to 2.5 % of a fiber or a message (Xeon). An exclusive thread always finds the
    // lock free, because no other thread is inside any lock.
    void lock() noexcept {
        if (!lock_now()) [[unlikely]]
            lock_slowly();
    }
    bool try_lock() noexcept {
        if (begin_exclusive()) {
            const bool free = word_.load_rlx() == 0; // own thread
            word_.store_rlx(1);                      // published by end_exclusive
            end_exclusive();
            return free;
        }
        if (!this_thread_registered()) [[unlikely]]
            register_this_thread();
        // Pairs with unlock.
        return word_.load_rlx() == 0 && word_.exchange_acq(1) == 0;
    }
    void unlock() noexcept { word_.store_rel(0); } // pairs with lock and try_lock

private:
    [[gnu::noinline]] void lock_slowly() noexcept {
        if (!this_thread_registered()) register_this_thread();
        if (word_.exchange_acq(1) == 0) return; // pairs with unlock
        note_contended_lock();
        // Pairs with unlock.
        for (unsigned round = 0; word_.exchange_acq(1) != 0; ++round)
            while (word_.load_rlx() != 0) spin_pause(round++); // a hint: the exchange decides
    }

    atomic<Word> word_{0};
};

using spin_lock = basic_spin_lock<unsigned>;
using byte_lock = basic_spin_lock<std::uint8_t>; // for objects in which four bytes are too many

} // namespace sennit::base
