// SPDX-License-Identifier: Apache-2.0
// The waiter of a condition.
#pragma once

#include "sennit/detail/base/check.hpp"
#include "sennit/monitor/condition.hpp"

namespace sennit {

// A waiter of a condition, in the frame of the waiting task. `self.missing` counts its monitors,
// plus one for its sleep.
//
// A waiter that only a signal can wake leaves its monitors first and then sleeps (leave_and_wait).
// Any other waiter leaves its monitors once it is saved, in the publish function of the wait; the
// claim decides how its wait ends.
struct condition::waiting : base::list_node {
    waiting(std::uintptr_t who, sched::wait_point& point, std::size_t monitors,
            std::uintptr_t told) noexcept
        : self(who, point, static_cast<std::uint32_t>(monitors) + 1), sole(point.sole), data(told) {
    }
    detail::entrant self;
    const bool sole;
    bool queued; // meaningful only if the waiter is not sole
    const std::uintptr_t data;
    detail::queue_nodes places;
};

inline void condition::check_inside(std::uintptr_t me, const char* what) const {
    if (!detail::monitor_ops::owned(of_, me)) base::fail(what, __FILE__, __LINE__);
}

} // namespace sennit
