// SPDX-License-Identifier: Apache-2.0
// A lock for a handful of instructions that never block: waits by spinning.
//
// Meets the standard's Lockable, so std::lock_guard works. Never hold it over a suspension, a
// system call or user code. Under oversubscription the holder may be off the processor: after a
// while the waiter yields. Cost: one locked instruction; none while one thread alone works with the
// library (sennit/detail/sys/single_threaded.hpp).
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <cstdint>

namespace sennit::base {

void spin_pause(unsigned round) noexcept; // src/sys/spin_pause.cpp: a pause, or sched_yield once
                                          // `round` is large

template <class Word>
class basic_spin_lock {
public:
    // The usual case of `lock`, which calls nothing. False: `lock` is to be called.
    bool lock_now() noexcept {
        if (begin_exclusive()) {
            word_.store_rlx(1); // carried by the end of the solitude
            end_exclusive();
            return true;
        }
        return this_thread_registered() && word_.exchange_acq(1) == 0; // pairs with unlock
    }
    // Without a look first: who finds it free, as a rule, would wait for that (1 to 2.5 % of a
    // fiber or a message, Xeon). Who is alone finds it free: nobody else is inside anything.
    void lock() noexcept {
        if (!lock_now()) [[unlikely]]
            lock_slowly();
    }
    bool try_lock() noexcept {
        if (begin_exclusive()) {
            const bool free = word_.load_rlx() == 0; // own
            word_.store_rlx(1);                      // carried by the end of the solitude
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
        for (unsigned round = 0; word_.exchange_acq(1) != 0; ++round) // pairs with unlock
            while (word_.load_rlx() != 0) spin_pause(round++); // only a hint: the exchange decides
    }

    atomic<Word> word_{0};
};

using spin_lock = basic_spin_lock<unsigned>;
using byte_lock = basic_spin_lock<std::uint8_t>; // where four bytes are too many

} // namespace sennit::base
