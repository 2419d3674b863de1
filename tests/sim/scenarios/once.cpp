// SPDX-License-Identifier: Apache-2.0
// once_flag, call_once: sennit/once.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/once.hpp"

SIM_SCENARIO_WITHIN(once, one_runs_it_and_the_other_sees_it, .preemptions = 3, .stale_reads = 2) {
    sennit::once_flag flag;
    sim::var<int> runs{0};
    sim::in_threads(2, [&](unsigned) {
        sennit::call_once(flag, [&] { runs = runs + 1; });
        sim::check(runs == 1, "it has run once, and that is seen");
    });
}

SIM_SCENARIO_WITHIN(once, three_come_at_once, .preemptions = 2, .stale_reads = 1) {
    sennit::once_flag flag;
    sim::var<int> runs{0};
    sim::in_threads(3, [&](unsigned) {
        sennit::call_once(flag, [&] { runs = runs + 1; });
        sim::check(runs == 1, "it has run once, and that is seen");
    });
}

// A call that throws does not count: one of those that waited meanwhile runs it.
SIM_SCENARIO_WITHIN(once, after_a_failure_another_tries, .preemptions = 2, .stale_reads = 1) {
    sennit::once_flag flag;
    sim::var<int> runs{0}, failures{0};
    sim::in_threads(3, [&](unsigned) {
        bool failed = false;
        try {
            sennit::call_once(flag, [&] {
                runs = runs + 1;
                if (runs == 1) throw failure();
            });
        } catch (const failure&) {
            failed = true;
            failures = failures + 1; // only one does
        }
        if (!failed) sim::check(runs == 2, "the second has not failed, and nobody else has run it");
    });
    sim::check(runs == 2 && failures == 1, "it ran until it did not fail");
}

// What the function does takes long: the others sleep meanwhile.
SIM_SCENARIO_WITHIN(once, two_sleep_while_it_runs, .preemptions = 2, .stale_reads = 1) {
    sennit::once_flag flag;
    sim::var<int> runs{0};
    const time_point when = soon();
    sim::in_threads(3, [&](unsigned) {
        sennit::call_once(flag, [&] {
            sleep_until(when);
            runs = runs + 1;
        });
        sim::check(runs == 1, "it has run once, and that is seen");
    });
}

// ---- on workers

SIM_SCENARIO_WITHIN(once, a_fiber_and_a_thread_come_at_once, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::once_flag flag;
    sim::var<int> runs{0};
    const auto call = [&] {
        sennit::call_once(flag, [&] { runs = runs + 1; });
        sim::check(runs == 1, "it has run once, and that is seen");
    };
    sennit::fiber strand({.runtime = &*one}, call);
    call();
    strand.join();
}
