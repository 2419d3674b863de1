// SPDX-License-Identifier: Apache-2.0
// Everything that can be scheduled: an intrusive node with one function pointer.
//
// A parked context, a job from a foreign thread, a scope's child, later a fiber, a coroutine
// handle, an actor with mail. `run` is called once by a worker, on the stack that the worker is on;
// it may suspend. It must not throw. The node is the runnable's own memory and may be gone when
// `run` returns.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"

#include <cstdint>

namespace sennit::sched {

struct runnable : base::list_node {
    explicit runnable(void (*function)(runnable*) noexcept) noexcept : run(function) {}
    void (*run)(runnable*) noexcept;
    std::uint64_t order = UINT64_MAX; // the worker's queue's; see src/core/queues/run_queue.hpp
    std::uint16_t affinity = 0;       // 0: any worker may run it; else number `affinity - 1` only
    bool in_order = false; // it lies in a scheduling_order; under the shared queue's lock
    bool owned = false;    // a mailbox: `clear_owner` is told when it leaves its worker's queue
    bool affinity_is_soft =
        false; // `affinity` is where it had best run: others take it if that worker does not get on
};

} // namespace sennit::sched
