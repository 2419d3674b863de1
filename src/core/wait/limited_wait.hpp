// SPDX-License-Identifier: Apache-2.0
// The first and the last step of a wait that a deadline or a cancelled scope may end, besides its
// source. Shared by the waits of contexts and threads (wait.cpp) and those of tasks
// (core/task/task_strand.cpp).
#pragma once

#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <cstdint>

namespace sennit::sched {

// Called when the waiter is saved completely. Enters `scope`, arms `limit`, calls
// `publish(argument)`, and shows that the waiter sleeps. Returns false if the wait has been claimed
// already. Until the last step no thread wakes the waiter, so its memory lives; after that step the
// memory may be gone. `scope`, `limit` and `runtime` may be null. If the scope is cancelled
// already, `refused()` is called, and the limit becomes `never`. end_limited_wait must then get no
// scope.
template <class Refused>
bool begin_limited_wait(wait_point& point, cancel_scope* scope, timer* limit, runtime_core* runtime,
                        void (*publish)(void*) noexcept, void* argument,
                        Refused&& refused) noexcept {
    // Before the timer, which may be due: a cancelled scope goes first.
    if (scope && !scope->enter(point)) {
        refused();
        if (limit) limit->deadline_ns = never;
        (void)claim(point, wake_reason::cancelled);
    }
    if (limit && runtime && limit->deadline_ns != never) arm(*limit, *runtime);
    if (publish) publish(argument);
    std::uint32_t expected = static_cast<std::uint32_t>(wake_reason::preparing);
    // Pairs with claim; reason() acquires an earlier claimer's writes.
    return base::elidable(point.state)
        .cas_rel(expected, static_cast<std::uint32_t>(wake_reason::waiting));
}

// Called by the waiter after its wait, however the wait ended.
inline void end_limited_wait(cancel_scope* scope, timer* limit, runtime_core* runtime) noexcept {
    if (limit && runtime && limit->deadline_ns != never) disarm(*limit, *runtime);
    if (scope) scope->leave();
}

} // namespace sennit::sched
