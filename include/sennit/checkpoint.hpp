// SPDX-License-Identifier: Apache-2.0
// checkpoint: a polite word in the middle of a long serial stretch.
//
// Call it every few microseconds inside long leaves that fork nothing themselves while the caller
// has forked before: if another worker has run out of work, the caller's oldest forks are handed
// out at once instead of after the 20 us in which that worker decides to take them by force.
// Harmless and cheap everywhere; a no-op on other threads. Cost: two instructions when nobody asks.
#pragma once

#include "sennit/detail/core/fork_stack.hpp"

namespace sennit {

inline void checkpoint() noexcept {
    sched::poll_steal_requests();
}

} // namespace sennit
