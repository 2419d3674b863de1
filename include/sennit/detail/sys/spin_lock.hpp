// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections of a handful of instructions that never block. A waiter spins.
//
// It meets the standard's Lockable, so std::lock_guard works. Never hold it over a suspension, a
// system call or user code. Under oversubscription the holder may be off the processor, so a waiter
// yields after some rounds. Cost: one locked instruction; none while only one thread works with the
// library, or while the lock is biased to the caller (sennit/detail/sys/single_threaded.hpp).
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/biased_word.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <cstdint>
#include <utility>

namespace sennit::base {

// Pauses the processor, or calls sched_yield once `round` is large (src/sys/spin_pause.cpp).
void spin_pause(unsigned round) noexcept;

// The number of times that the calling thread found a lock taken, or biased to another thread, and
// the note of one such time. They tell a worker that its tasks and those of another worker use the
// same objects.
std::uint32_t contended_locks() noexcept;
void note_contended_lock() noexcept;

// Can be biased to a worker (biased_word.hpp) where its users call the forms with `lock_uses`.
class spin_lock {
public:
    // The case of `lock` that needs no locked instruction. False: the caller must call `lock`.
    bool lock_plainly() noexcept { return update_plainly(word_, 0u, held); }
    void lock() noexcept {
        if (!lock_plainly() && !lock_neutral()) [[unlikely]]
            (void)lock_slowly();
    }
    // Counts the lock, so that it may become biased to the calling thread.
    void lock(lock_uses& uses) noexcept {
        if (lock_plainly()) return;
        if (!lock_neutral()) [[unlikely]] {
            if (lock_slowly()) uses.note_loss();
        } else if (uses.count()) [[unlikely]] {
            take_bias(uses);
        }
    }
    bool try_lock() noexcept {
        unsigned seen = 0;
        if ((word_.load_rlx() & held) != 0) return false; // a hint: the CAS decides
        return biasable(word_).cas_acq(seen, held);       // pairs with unlock
    }
    // The upper bits stay: they name the owner of a biased lock. Pairs with lock and try_lock. The
    // load orders nothing: only the holder writes the word.
    void unlock() noexcept { word_.store_rel(word_.load_rlx() & ~held); }

private:
    static constexpr unsigned held = 1;

    bool lock_neutral() noexcept {
        unsigned seen = 0;
        return this_thread_registered() && word_.cas_acq(seen, held); // pairs with unlock
    }
    // The caller holds the lock, and the word is neutral.
    [[gnu::noinline]] void take_bias(lock_uses& uses) noexcept {
        word_.store_rlx(uses.ask() | held); // published by unlock
    }
    // True: the lock was biased to another thread.
    [[gnu::noinline]] bool lock_slowly() noexcept {
        if (!this_thread_registered()) register_this_thread();
        bool lost_bias = false, noted = false;
        for (unsigned round = 0;;) {
            unsigned seen = 0;
            if (update_plainly(word_, 0u, held) || word_.cas_acq(seen, held)) // pairs with unlock
                return lost_bias;
            if (seen != 0 && !std::exchange(noted, true)) note_contended_lock();
            while ((word_.load_rlx() & held) != 0) spin_pause(round++); // a hint
            if (!is_biased(seen)) continue;
            lost_bias = !is_own(seen);
            end_bias(word_);
        }
    }

    atomic<unsigned> word_{0};
};

// A spin lock of one byte, for objects in which four bytes are too many. It is never biased.
class byte_lock {
public:
    void lock() noexcept {
        if (begin_exclusive()) {
            // An exclusive thread always finds the lock free, because no other thread is inside.
            word_.store_rlx(1); // published by end_exclusive
            end_exclusive();
        } else if (!this_thread_registered() || word_.exchange_acq(1) != 0) { // pairs: unlock
            lock_slowly();
        }
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
        return word_.load_rlx() == 0 && word_.exchange_acq(1) == 0; // pairs with unlock
    }
    void unlock() noexcept { word_.store_rel(0); } // pairs with lock and try_lock

private:
    [[gnu::noinline]] void lock_slowly() noexcept {
        if (!this_thread_registered()) register_this_thread();
        // Pairs with unlock.
        for (unsigned round = 0; word_.exchange_acq(1) != 0; ++round)
            while (word_.load_rlx() != 0) spin_pause(round++); // a hint: the exchange decides
    }

    atomic<std::uint8_t> word_{0};
};

} // namespace sennit::base
