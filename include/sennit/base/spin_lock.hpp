// SPDX-License-Identifier: Apache-2.0
// A lock for a handful of instructions that never block: waits by spinning.
//
// Meets the standard's Lockable, so std::lock_guard works. Never hold it over a suspension, a system call or user code.
// Under oversubscription the holder may be off the processor: after a while the waiter yields through the hook that
// `sys` installs at compile time (`spin_pause`).
#pragma once

#include "sennit/base/atomic.hpp"

namespace sennit::base {

void spin_pause(unsigned round) noexcept; // src/sys/spin_pause.cpp: a pause, or sched_yield once `round` is large

class spin_lock {
public:
    // Without a look first: who finds it free, as a rule, would wait for that (1 to 2.5 % of a fiber or a message,
    // Xeon).
    void lock() noexcept {
        for (unsigned round = 0; word_.exchange_acq(1) != 0; ++round) // pairs with unlock
            while (word_.load_rlx() != 0) spin_pause(round++);        // only a hint: try_lock decides
    }
    bool try_lock() noexcept { return word_.load_rlx() == 0 && word_.exchange_acq(1) == 0; } // pairs with unlock
    void unlock() noexcept { word_.store_rel(0); }                                           // pairs with try_lock

private:
    atomic<unsigned> word_{0};
};

} // namespace sennit::base
