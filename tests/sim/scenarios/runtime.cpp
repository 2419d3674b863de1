// SPDX-License-Identifier: Apache-2.0
// The whole engine: threads, contexts, forks and sleep, from birth to end.
#include "explorer/sim.hpp"

#include "sched/runtime_core.hpp"
#include "sennit/fork_join.hpp"
#include "sennit/runtime.hpp"

namespace sim = sennit::sim;

namespace {
constexpr std::size_t stack_size = 64 * 1024;
}

SIM_SCENARIO_WITHIN(runtime, is_made_and_destroyed, .preemptions = 1, .stale_reads = 1) {
    sennit::runtime runtime({.workers = 1, .stack_size = stack_size});
}

SIM_SCENARIO_WITHIN(runtime, runs_what_is_submitted, .preemptions = 1, .stale_reads = 0) {
    sennit::runtime runtime({.workers = 1, .stack_size = stack_size});
    sim::check(runtime.run([] { return 42; }) == 42, "the result arrives");
}

SIM_SCENARIO_WITHIN(runtime, two_workers_end, .preemptions = 1, .stale_reads = 0) {
    sennit::runtime runtime({.workers = 2, .stack_size = stack_size});
}

SIM_SCENARIO_WITHIN(runtime, a_waiting_fork_is_found, .preemptions = 2, .stale_reads = 1) {
    sennit::runtime runtime({.workers = 2, .stack_size = stack_size});
    sennit::base::atomic<std::uint32_t> met{0};
    const int sum = runtime.run([&] {
        auto [a, b] = sennit::fork_join(
            [&] {
                while (met.load() == 0) sennit::sys::futex_wait(met, 0); // blocks the thread, as a long leaf does
                return 1;
            },
            [&] {
                met.store(1);
                sennit::sys::futex_wake(met, 1);
                return 2;
            });
        return a + b;
    });
    sim::check(sum == 3, "both have run");
}
