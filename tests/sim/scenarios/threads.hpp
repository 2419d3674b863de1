// SPDX-License-Identifier: Apache-2.0
// Shared by scenarios over plain threads: scopes around their waits, and deadlines that race.
#pragma once

#include "explorer/sim.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sys/futex.hpp"

#include <chrono>
#include <cstdint>

namespace sim = sennit::sim;

// Puts the calling thread into a scope, so that its waits have more than one end.
struct in_scope {
    explicit in_scope(sennit::sched::cancel_scope& scope) {
        sennit::sched::current_strand()->scope = &scope;
    }
    sennit::sched::strand_frame frame; // begins before the body above
};

// Calls `wait` in the scope. False: the wait was cancelled.
template <class F>
bool not_cancelled(sennit::sched::cancel_scope& scope, F&& wait) {
    in_scope here(scope);
    try {
        wait();
        return true;
    } catch (const sennit::cancelled&) {
        return false;
    }
}

// In the explorer, time passes only while no thread can continue. Then all threads that wait for
// one time continue together, and race. So a deadline races the next step of a thread that has
// slept until the same time.
using time_point = std::chrono::steady_clock::time_point;

inline time_point soon() {
    return time_point(std::chrono::nanoseconds(sennit::sched::now_ns() + 1'000'000));
}
inline void sleep_until(time_point when) {
    const sennit::base::atomic<std::uint32_t> word{0};
    (void)sennit::sys::futex_wait_until(word, 0, when.time_since_epoch().count());
}
