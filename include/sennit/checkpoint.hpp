// SPDX-License-Identifier: Apache-2.0
// checkpoint: an offer of work in the middle of a long serial computation.
//
//     for (std::size_t i = 0; i < cells.size(); ++i) {
//         relax(cells[i]);
//         if (i % 1024 == 0) sennit::checkpoint();
//     }
//
// Call it every few microseconds inside long leaves that fork nothing themselves while their caller
// has forked. If another worker has run out of work, the call publishes the caller's oldest forks
// immediately. Without the call, the other worker takes them by force after 20 µs. The call does
// not block and does not throw, and does nothing on threads that are no workers. Cost: two
// instructions when no worker asks.
#pragma once

#include "sennit/detail/core/fork_stack.hpp"

namespace sennit {

inline void checkpoint() noexcept {
    sched::poll_steal_requests();
}

} // namespace sennit
