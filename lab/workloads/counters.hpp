// SPDX-License-Identifier: Apache-2.0
// The scheduling counters of a timed run, for programs whose runtime has them: a part of the line
// of JSON if LAB_COUNTERS is set in the environment. A runtime class offers `counts()`.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace lab {

struct scheduling_counts {
    std::uint64_t stacks;      // The most stacks that were live at once, warm-up included.
    std::uint64_t suspensions; // Fibers that left their worker to wait.
    std::uint64_t crossings;   // Tasks that a worker took from outside its own queue.
    std::uint64_t steals;      // The crossings for which a worker searched another worker's queue.
    std::uint64_t wakes;       // Wake-ups of parked workers.
    std::uint64_t barriers;    // membarrier calls of the process.
};

// Sennit's counters, from the metrics of its runtime.
template <class Metrics>
scheduling_counts counts_of(const Metrics& seen) {
    const std::uint64_t steals = seen.steals + seen.tasks_stolen;
    return {seen.stacks_made, seen.suspensions, steals + seen.tasks_injected,
            steals,           seen.wakes,       seen.barriers};
}

// Reads the counters before a run. `text` says by how much they have grown since.
template <class R>
class counted_run {
public:
    explicit counted_run(R& runtime) : runtime_(runtime) {
        if constexpr (has_counters)
            if (wanted()) before_ = runtime.counts();
    }
    // The member `counters` of the line of JSON, after a comma; empty where there is none.
    std::string text() const {
        if constexpr (has_counters) {
            if (!wanted()) return {};
            const scheduling_counts now = runtime_.counts();
            const auto grown = [&](std::uint64_t scheduling_counts::* one) {
                return static_cast<unsigned long long>(now.*one - before_.*one);
            };
            char text[256];
            std::snprintf(
                text, sizeof text,
                ", \"counters\": {\"stacks\": %llu, \"suspensions\": %llu, \"crossings\": %llu, "
                "\"steals\": %llu, \"wakes\": %llu, \"barriers\": %llu}",
                static_cast<unsigned long long>(now.stacks), grown(&scheduling_counts::suspensions),
                grown(&scheduling_counts::crossings), grown(&scheduling_counts::steals),
                grown(&scheduling_counts::wakes), grown(&scheduling_counts::barriers));
            return text;
        }
        return {};
    }

private:
    static constexpr bool has_counters = requires(R& one) { one.counts(); };
    static bool wanted() { return std::getenv("LAB_COUNTERS") != nullptr; }

    [[maybe_unused]] R& runtime_;
    [[maybe_unused]] scheduling_counts before_{};
};

} // namespace lab
