// SPDX-License-Identifier: Apache-2.0
// Always-on counters of one worker. Written by the worker only, read by anybody: relaxed, each
// exact, together no snapshot. None is on the path of a fork or join that nobody stole.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"

#include <cstdint>

namespace sennit::sched {

class counter {
public:
    [[gnu::always_inline]] void add(std::uint64_t n = 1) noexcept {
        value_.store_rlx(value_.load_rlx() + n); // single writer: the owner
    }
    std::uint64_t read() const noexcept { return value_.load_rlx(); } // a counter orders nothing

private:
    base::atomic<std::uint64_t> value_{0};
};

struct alignas(base::destructive_distance) counters {
    counter published;         // forks made public, by the owner or by force
    counter reclaimed;         // public forks that the owner took back
    counter forced;            // publications that a thief forced on another worker
    counter steals;            // forks taken from other contexts
    counter failed_steals;     // rounds over all victims that found nothing
    counter tasks_stolen;      // runnables taken from a worker that did not come to them
    counter suspensions;       // contexts that left their worker
    counter suspended_to_idle; // those of them that left for an idle context
    counter direct_switches;   // stack switches besides those of suspensions and yields
    counter parks;             // times the worker went to sleep
    counter tasks_picked; // runnables that were picked: by the loop, by who suspended for one, by a
                          // yield
    counter loop_runs;    // those of them that cost no switch of their own
    counter inline_runs;  // the others: mail behind mail, children run by their joiner; see
                          // global_poll.cpp

    std::uint64_t tasks_run() const noexcept {
        return tasks_picked.read() + inline_runs.read();
    } // tells whether the worker gets on
    // Any thread. A pick is counted before what it was.
    std::uint64_t switches() const noexcept {
        const std::uint64_t none = loop_runs.read();
        return tasks_picked.read() - none + suspended_to_idle.read() + direct_switches.read();
    }
};

} // namespace sennit::sched
