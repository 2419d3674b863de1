// SPDX-License-Identifier: Apache-2.0
// The fork stack between its owner and thieves: src/core/fork/fork_stack.cpp.
#include "engine.hpp"
#include "ground/ground.hpp"

namespace {

int fib(int n) {
    if (n < 2) return n;
    auto [a, b] = sennit::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    return a + b;
}

} // namespace

// The owner's pop races the thief's steal of the only public fork, which is also the last.
SIM_SCENARIO_WITHIN(fork_stack, fork_runs_once, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sim::var<int> left{0}, right{0};
    two.run([&] { sennit::fork_join([&] { left = left + 1; }, [&] { right = right + 1; }); });
    sim::check(left == 1 && right == 1, "each child has run once");
}

// Publication of the older half, and taking back the newer half, three levels deep.
SIM_SCENARIO_WITHIN(fork_stack, recursion_is_published_and_taken_back, .preemptions = 2,
                    .stale_reads = 1) {
    engine two(2);
    sim::check(two.run([] { return fib(4); }) == 3, "fib(4) is 3");
}

// A fork whose owner runs a leaf that never polls. (The push answers an old request. If that
// request was answered earlier, only a forced publication brings the fork out: see the last
// scenarios.)
SIM_SCENARIO_WITHIN(fork_stack, fork_behind_long_leaf_is_force_published, .preemptions = 2,
                    .stale_reads = 1) {
    engine two(2);
    event met;
    const int sum = two.run([&] {
        auto [a, b] = sennit::fork_join(
            [&] {
                met.wait();
                return 1;
            },
            [&] {
                met.set();
                return 2;
            });
        return a + b;
    });
    sim::check(sum == 3, "both children have run");
}

// The thief's forced publication races the owner's pops and pushes.
SIM_SCENARIO_WITHIN(fork_stack, force_publication_races_owner, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sim::var<int> runs{0};
    sennit::base::atomic<int> count{0};
    two.run([&] {
        for (int i = 0; i < 2; ++i)
            sennit::fork_join([&] { (void)count.load(); }, [&] { count.fetch_add(1); });
        runs = 1;
    });
    sim::check(count.load() == 2 && runs == 1, "each second child has run once");
}

// The owner publishes at a checkpoint.
SIM_SCENARIO_WITHIN(fork_stack, checkpoint_publishes_fork, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sim::var<int> right{0};
    two.run([&] {
        sennit::fork_join(
            [&] {
                sennit::checkpoint();
                sennit::checkpoint();
            },
            [&] { right = right + 1; });
    });
    sim::check(right == 1, "the second child has run once");
}

// One slot is pushed again for each index; a thief takes the whole rest.
SIM_SCENARIO_WITHIN(fork_stack, family_reuses_slot, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sennit::base::atomic<int> sum{0};
    two.run([&] { sennit::fork_each(3, [&](std::size_t i) { sum.fetch_add(1 << (4 * i)); }); });
    sim::check(sum.load() == 0x111, "each index has run once");
}

// Two thieves steal from one victim.
SIM_SCENARIO_WITHIN(fork_stack, two_thieves_take_different_forks, .preemptions = 2,
                    .stale_reads = 0) {
    engine three(3);
    sim::var<int> a{0}, b{0}, c{0};
    three.run(
        [&] { sennit::fork_join([&] { a = a + 1; }, [&] { b = b + 1; }, [&] { c = c + 1; }); });
    sim::check(a == 1 && b == 1 && c == 1, "each child has run once");
}

// A thief chooses a context. The context is switched out and in again before the thief claims its
// forks.
SIM_SCENARIO_WITHIN(fork_stack, context_returns_during_force_publication, .preemptions = 3,
                    .stale_reads = 0,
                    .preempt_in = "fork_stack.cpp steal_fork.cpp advance_split.hpp worker_tls.hpp "
                                  "worker.cpp thief.cpp switching.hpp") {
    engine two(2);
    sennit::base::atomic<int> runs{0};
    two.run([&] {
        sennit::fork_join([] { sennit::sched::yield(); }, [&] { runs.fetch_add(1); });
        sennit::fork_join([] {}, [&] { runs.fetch_add(1); });
    });
    sim::check(runs.load() == 2, "each second child has run once");
}

// A thief forces a publication while its victim continues to push. The thief may take a slot that
// was written after its barrier, so only the order of the stores to `head` makes the slot's
// contents visible.
SIM_SCENARIO_WITHIN(
    fork_stack, push_races_force_publication, .preemptions = 2, .stale_reads = 0,
    .preempt_in =
        "fork_stack.cpp steal_fork.cpp advance_split.hpp worker_tls.hpp worker.hpp switching.hpp") {
    engine two(2);
    // The victim answers and continues while the thief is between two steps.
    sim::barriers_yield();
    event second_is_stolen;
    two.run([&] {
        sennit::fork_join([] {}, [] {}); // wakes the thief
        sennit::sys::cpu_relax();        // the thief is about to sleep again
        sennit::fork_join([] {}, [] {}); // answers the thief's request
        sennit::fork_join(
            [&] {
                sennit::fork_join(
                    [&] { sennit::fork_join([&] { second_is_stolen.wait(); }, [] {}); },
                    [&] { second_is_stolen.set(); });
            },
            [] {});
    });
}

// The first request was answered. The next sleeper requests again, and the owner's push may not
// have seen that request yet.
SIM_SCENARIO_WITHIN(
    fork_stack, push_that_misses_request_is_found, .preemptions = 2, .stale_reads = 2,
    .preempt_in = "fork_stack.cpp steal_fork.cpp advance_split.hpp worker_tls.hpp worker.hpp "
                  "switching.hpp idle_search.cpp idle_search.hpp ground.cpp") {
    engine two(2);
    event met;
    two.run([&] {
        sennit::fork_join([] {}, [] {}); // answers the first request
        sennit::fork_join([&] { met.wait(); }, [&] { met.set(); });
    });
}

// Two owners compute without a push. The third worker claims the forks of both before one barrier.
// With two preemptions there are more than three million executions.
SIM_SCENARIO_WITHIN(fork_stack, one_barrier_forces_two_publications, .preemptions = 1,
                    .stale_reads = 0,
                    .preempt_in = "fork_stack.cpp steal_fork.cpp advance_split.hpp") {
    engine three(3);
    event met[2];
    sim::in_threads(2, [&](unsigned me) {
        three.run([&] {
            sennit::fork_join([] {}, [] {}); // answers an old request
            sennit::fork_join([&] { met[me].wait(); }, [&] { met[me].set(); });
        });
    });
}

// A push after a forced publication publishes without a request. The thief has taken the first fork
// and looks no more.
SIM_SCENARIO_WITHIN(fork_stack, forced_owner_publishes_eagerly, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "fork_stack.cpp steal_fork.cpp advance_split.hpp worker_tls.hpp "
                                  "worker.hpp idle_search.cpp") {
    engine two(2);
    event first, second;
    two.run([&] {
        sennit::fork_join([] {}, [] {}); // answers an old request
        sennit::fork_join([&] { first.wait(); }, [&] { first.set(); });
        sennit::fork_join([&] { second.wait(); }, [&] { second.set(); });
    });
}
