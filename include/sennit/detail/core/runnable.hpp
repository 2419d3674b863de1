// SPDX-License-Identifier: Apache-2.0
// The base of everything that can be scheduled: an intrusive node with one function pointer.
//
// Runnables are parked contexts, jobs from foreign threads, children of scopes, fibers, coroutine
// handles, and actors with messages. A worker calls `run` once, on the stack that the worker runs
// on. `run` may suspend and must not throw. The node is the runnable's own memory, and may be gone
// when `run` returns.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"

#include <cstdint>

namespace sennit::sched {

struct runnable : base::list_node {
    explicit runnable(void (*function)(runnable*) noexcept) noexcept : run(function) {}
    void (*run)(runnable*) noexcept;
    // Belongs to the worker's queue: src/core/queues/run_queue.hpp.
    std::uint64_t order = UINT64_MAX;
    // 0: any worker may run it. Otherwise only worker number `affinity - 1` may.
    std::uint16_t affinity = 0;
    // True while it is in a scheduling_order. Guarded by the injector's lock.
    bool in_order = false;
    // True for a mailbox: `clear_owner` is called when it leaves its worker's queue.
    bool owned = false;
    // True if `affinity` is only a preference: other workers take it if that worker makes no
    // progress.
    bool affinity_is_soft = false;
};

} // namespace sennit::sched
