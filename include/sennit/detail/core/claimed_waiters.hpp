// SPDX-License-Identifier: Apache-2.0
// The waiters that a canceller or the timers have claimed, and wake once they hold no lock.
//
// Requires that each waiter sleeps (claim_result::wake_it), so no other thread touches it. A
// resumable that waits is in no queue, and is linked by the links for its queue. A thread is linked
// by the word that says that it is a thread; the thread itself reads only `signal`.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/resumable.hpp"
#include "sennit/detail/core/waiter.hpp"

namespace sennit::sched {

class claimed_waiters {
public:
    claimed_waiters() noexcept = default;
    claimed_waiters(const claimed_waiters&) = delete;

    void add(waiter& one) noexcept {
        if (one.parked) return resumables_.push_back(*one.parked);
        one.next_thread = threads_;
        threads_ = &one;
    }
    // Wakes the resumables in the order in which they were added, and then the threads.
    void wake_all() noexcept {
        while (resumable* one = resumables_.pop_front()) {
            waiter of_it; // Its own waiter is not needed for a wake-up.
            of_it.parked = one;
            wake(of_it);
        }
        while (waiter* one = threads_) {
            threads_ = one->next_thread;
            one->parked = nullptr;
            wake(*one);
        }
    }

private:
    base::intrusive_queue<resumable> resumables_;
    waiter* threads_ = nullptr;
};

} // namespace sennit::sched
