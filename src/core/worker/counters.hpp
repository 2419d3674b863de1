// SPDX-License-Identifier: Apache-2.0
// Always-on counters of one worker. Only the worker writes them; any thread may read them. All
// accesses are relaxed: each counter is exact, but together they are no snapshot. None is on the
// path of a fork or join that no thief stole.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"

#include <cstdint>

namespace sennit::sched {

class counter {
public:
    [[gnu::always_inline]] void add(std::uint64_t n = 1) noexcept {
        value_.store_rlx(value_.load_rlx() + n); // Single writer: the owner.
    }
    std::uint64_t read() const noexcept { return value_.load_rlx(); } // A counter orders nothing.

private:
    base::atomic<std::uint64_t> value_{0};
};

struct alignas(base::destructive_distance) counters {
    counter published;         // Forks made public, by the owner or by force.
    counter reclaimed;         // Public forks that the owner took back.
    counter forced;            // Publications that a thief forced on another worker.
    counter steals;            // Forks taken from other contexts.
    counter steal_requests;    // Requests that the worker sent to others.
    counter scans;             // Looks at the queues of all other workers.
    counter failed_steals;     // Rounds over all victims that found nothing.
    counter tasks_stolen;      // Runnables stolen from a worker that did not reach them.
    counter tasks_injected;    // Runnables taken from the injector or the own pinned queue.
    counter suspensions;       // Contexts that left their worker.
    counter suspended_to_idle; // Suspensions that left for an idle context.
    counter direct_switches;   // Stack switches other than those of suspensions and yields.
    counter parks;             // Times that the worker parked.
    // Runnables that were picked: by the loop, by a suspending context, by a yield.
    counter tasks_picked;
    counter loop_runs; // Picks that cost no switch of their own.
    // Runnables run without a pick: messages behind messages, children run by their joiner; see
    // global_poll.cpp.
    counter inline_runs;
    counter batched_items; // Messages of a batch beyond its first.
    counter empty_runs;    // Runnables that had nothing left to do: wake-ups of busy mailboxes.
    counter remote_sends;  // Messages to a mailbox of another worker.
    counter far_steals;    // Of `steals`, those from a worker of another domain.

    // The work that the worker has done so far: tasks and messages, each of them once, whatever
    // number of workers they took. Compared only with itself.
    std::uint64_t work_items() const noexcept {
        return tasks_run() + batched_items.read() - empty_runs.read();
    }
    // Work that came from another worker, or went to one.
    std::uint64_t crossings() const noexcept {
        return tasks_injected.read() + tasks_stolen.read() + remote_sends.read();
    }
    // Tells whether the worker makes progress.
    std::uint64_t tasks_run() const noexcept { return tasks_picked.read() + inline_runs.read(); }
    // Any thread. The number of stack switches. A pick is counted before its kind.
    std::uint64_t switches() const noexcept {
        const std::uint64_t none = loop_runs.read();
        return tasks_picked.read() - none + suspended_to_idle.read() + direct_switches.read();
    }
};

} // namespace sennit::sched
