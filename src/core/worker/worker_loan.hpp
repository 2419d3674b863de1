// SPDX-License-Identifier: Apache-2.0
// Whether a parked worker may be borrowed to a thread outside, the guest, and whether it is
// borrowed. guest_thread.cpp has the protocol.
//
// State of the word: kept (0); offered (1): the worker's own thread sleeps without a duty, so a
// thread that takes the worker's bit from the idle map may borrow the worker; borrowed (2). The
// worker's own thread makes the transitions 0 -> 1 and 1 -> 0, the guest 1 -> 2 and 2 -> 1.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sys/mutant.hpp"
#include "sys/thread.hpp"

#include <cstdint>

namespace sennit::sched {

class worker_loan {
public:
    // Any thread. A hint, unless the caller has taken the worker's bit from the idle map.
    bool is_offered() const noexcept { return word_.load_acq() == offered; } // pairs with offer
    // The worker's own thread, before it sleeps.
    void offer() noexcept { word_.store_rel(offered); } // pairs with is_offered
    // The worker's own thread, after it slept. Waits for a guest that is about to leave.
    void end_offer() noexcept {
        while (word_.load_acq() == borrowed && !SENNIT_MUTANT("an owner waits for its guest"))
            sys::yield_thread(); // The load pairs with give_back.
        word_.store_rlx(kept);   // The next set bit in the idle map publishes it.
    }
    // The guest. Requires an offered worker whose bit in the idle map the guest has taken.
    void borrow() noexcept {
        word_.store_rlx(borrowed);
    } // Published by the bit that the guest sets.
    // The guest's last access to the worker.
    void give_back() noexcept { word_.store_rel(offered); } // pairs with end_offer and is_offered

private:
    static constexpr std::uint32_t kept = 0, offered = 1, borrowed = 2;
    base::atomic<std::uint32_t> word_{kept};
};

} // namespace sennit::sched
