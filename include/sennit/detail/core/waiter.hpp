// SPDX-License-Identifier: Apache-2.0
// The handle by which a blocked context or task, or a blocked thread that is not a worker, is made
// ready again.
//
// It lives in the frame of the blocked code. Mutexes, channels and joins keep lists of waiters, and
// do not depend on the kind of waiter. A waiter has no links of its own. A source lists the entries
// of waiters (wait.hpp), and claimed_waiters.hpp lists waiters that have been claimed.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sched {

struct resumable;

struct waiter {
    union {
        resumable* parked = nullptr; // null: a thread waits on `signal`
        waiter* next_thread;         // Only in a list of claimed waiters: claimed_waiters.hpp.
    };
    base::atomic<std::uint32_t> signal{0}; // 1: the thread is woken
};

// Makes the waiter ready. Thread-safe; called once for each wait. The waiter may be gone when the
// call returns.
void wake(waiter& who) noexcept;

} // namespace sennit::sched
