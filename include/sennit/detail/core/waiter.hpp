// SPDX-License-Identifier: Apache-2.0
// The handle by which a blocked context or task, or a blocked thread that is not a worker, is made
// ready again.
//
// It lives in the frame of the blocked code. Mutexes, channels and joins keep lists of waiters, and
// do not depend on the kind of waiter.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"

#include <cstdint>

namespace sennit::sched {

struct resumable;

struct waiter : base::list_node {
    resumable* parked = nullptr;           // null: a thread waits on `signal`
    base::atomic<std::uint32_t> signal{0}; // 1: woken
};

// Makes the waiter ready. Thread-safe; called once for each wait. The waiter may be gone when the
// call returns.
void wake(waiter& who) noexcept;

} // namespace sennit::sched
