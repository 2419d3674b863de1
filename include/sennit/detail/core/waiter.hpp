// SPDX-License-Identifier: Apache-2.0
// How something blocked is made ready again, whatever it is: a context, or a thread that is no
// worker.
//
// Lives in the frame of whoever waits. Mutexes, channels and joins keep lists of waiters and do not
// care who waits.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"

#include <cstdint>

namespace sennit::sched {

class context;

struct waiter : base::list_node {
    context* parked = nullptr;             // null: a thread waits on `signal`
    base::atomic<std::uint32_t> signal{0}; // 1: woken
};

// Makes it ready. Thread-safe; once for each wait. The waiter may be gone when this returns.
void wake(waiter& who) noexcept;

} // namespace sennit::sched
