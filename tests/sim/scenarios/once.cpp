// SPDX-License-Identifier: Apache-2.0
// once_flag, call_once: sennit/once.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/once.hpp"

SIM_SCENARIO_WITHIN(once, one_thread_runs_function_and_other_sees_result, .preemptions = 3,
                    .stale_reads = 2) {
    sennit::once_flag flag;
    sim::var<int> runs{0};
    sim::in_threads(2, [&](unsigned) {
        sennit::call_once(flag, [&] { runs = runs + 1; });
        sim::check(runs == 1, "the function has run once, and its write is visible");
    });
}

SIM_SCENARIO_WITHIN(once, three_threads_call_concurrently, .preemptions = 2, .stale_reads = 1) {
    sennit::once_flag flag;
    sim::var<int> runs{0};
    sim::in_threads(3, [&](unsigned) {
        sennit::call_once(flag, [&] { runs = runs + 1; });
        sim::check(runs == 1, "the function has run once, and its write is visible");
    });
}

// A call that throws does not count: one of the waiting threads runs the function again.
SIM_SCENARIO_WITHIN(once, waiter_retries_after_failure, .preemptions = 2, .stale_reads = 1) {
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
            failures = failures + 1; // only one call throws
        }
        if (!failed)
            sim::check(runs == 2, "the second call has not failed, and there was no third");
    });
    sim::check(runs == 2 && failures == 1, "the function ran until it did not throw");
}

// The function takes long: the other threads sleep meanwhile.
SIM_SCENARIO_WITHIN(once, two_threads_sleep_while_function_runs, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::once_flag flag;
    sim::var<int> runs{0};
    const time_point when = soon();
    sim::in_threads(3, [&](unsigned) {
        sennit::call_once(flag, [&] {
            sleep_until(when);
            runs = runs + 1;
        });
        sim::check(runs == 1, "the function has run once, and its write is visible");
    });
}

// ---- on workers

SIM_SCENARIO_WITHIN(once, fiber_and_thread_call_concurrently, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::once_flag flag;
    sim::var<int> runs{0};
    const auto call = [&] {
        sennit::call_once(flag, [&] { runs = runs + 1; });
        sim::check(runs == 1, "the function has run once, and its write is visible");
    };
    sennit::fiber strand({.runtime = &*one}, call);
    call();
    strand.join();
}
