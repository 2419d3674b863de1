// SPDX-License-Identifier: Apache-2.0
// Where one worker sleeps. The protocol around it, who may be woken when, is src/sched/README.md.
//
// State of the word: awake (0); asleep (1): announced, may be waiting on the futex; notified (2): a waker chose this
// worker. Only the owner goes 0 -> 1 and * -> 0; only the one waker that took the worker's bit from the idle map goes
// 1 -> 2.
#pragma once

#include "sennit/base/atomic.hpp"
#include "sennit/base/cache_line.hpp"
#include "sennit/sched/timer.hpp"
#include "sys/futex.hpp"

#include <cstdint>

namespace sennit::sched {

class alignas(base::destructive_distance) parker {
public:
    void announce() noexcept { word_.store(asleep); }
    void sleep() noexcept { (void)sleep_until(never); } // until notified
    // Blocks until notified, or until the deadline (`never`: none); false then. Who gives up then must take its bit
    // from the idle map before it cancels: if the bit is gone, the token is on its way.
    bool sleep_until(std::int64_t deadline_ns) noexcept {
        while (word_.load_acq() != notified) // pairs with notify
            if (deadline_ns == never)
                sys::futex_wait(word_, asleep);
            else if (!sys::futex_wait_until(word_, asleep, deadline_ns))
                return false;
        word_.store_rlx(awake); // the owner's own state; the next announce is sequentially consistent
        return true;
    }
    void cancel() noexcept { word_.store_rlx(awake); } // as above
    void notify() noexcept {
        word_.store(notified);
        sys::futex_wake(word_, 1);
    }

private:
    static constexpr std::uint32_t awake = 0, asleep = 1, notified = 2;
    base::atomic<std::uint32_t> word_{awake};
};

} // namespace sennit::sched
