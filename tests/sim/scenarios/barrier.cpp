// SPDX-License-Identifier: Apache-2.0
// barrier: sennit/barrier.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/barrier.hpp"
#include "sennit/fiber.hpp"

#include <array>

SIM_SCENARIO_WITHIN(barrier, participant_waits_until_all_have_arrived, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::barrier all(3);
    std::array<sim::var<int>, 3> data;
    sim::in_threads(3, [&](unsigned me) {
        data[me] = 1;
        all.arrive_and_wait();
        sim::check(data[(me + 1) % 3] == 1, "the writes of the other participants are visible");
    });
}

SIM_SCENARIO_WITHIN(barrier, barrier_is_reused_immediately, .preemptions = 2, .stale_reads = 1) {
    sennit::barrier both(2);
    std::array<sim::var<int>, 2> data;
    sim::in_threads(2, [&](unsigned me) {
        for (int phase = 1; phase <= 2; ++phase) {
            data[me] = phase;
            both.arrive_and_wait();
            sim::check(data[1 - me] == phase, "the other participant has arrived, and waits");
            both.arrive_and_wait();
        }
    });
}

SIM_SCENARIO_WITHIN(barrier, completion_runs_once_before_participants_continue, .preemptions = 2,
                    .stale_reads = 1) {
    sim::var<int> completions{0};
    sennit::barrier both(2, [&]() noexcept { completions = completions + 1; });
    sim::in_threads(2, [&](unsigned) {
        both.arrive_and_wait();
        sim::check(completions == 1, "the completion has run once");
    });
}

// One participant drops out for good; the remaining participants do not wait for it.
SIM_SCENARIO_WITHIN(barrier, dropped_participant_is_no_longer_expected, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::barrier all(2);
    sim::var<int> data{0};
    sim::thread leaver([&] {
        data = 1;
        all.arrive_and_drop();
    });
    all.arrive_and_wait();
    sim::check(data == 1, "the writes before the drop are visible");
    all.arrive_and_wait(); // alone
    leaver.join();
}

SIM_SCENARIO_WITHIN(barrier, cancelled_participant_has_arrived, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::barrier both(2);
    sennit::sched::cancel_scope scope(nullptr);
    sim::thread cancelled([&] { (void)not_cancelled(scope, [&] { both.arrive_and_wait(); }); });
    sim::thread canceller([&] { scope.cancel(); });
    both.arrive_and_wait();
    cancelled.join();
    canceller.join();
}

// ---- on workers

SIM_SCENARIO_WITHIN(barrier, fiber_and_thread_meet, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::barrier both(2);
    sim::var<int> from_fiber{0}, from_thread{0};
    sennit::fiber strand({.runtime = &*one}, [&] {
        from_fiber = 1;
        both.arrive_and_wait();
        sim::check(from_thread == 1, "the write of the thread is visible");
    });
    from_thread = 1;
    both.arrive_and_wait();
    sim::check(from_fiber == 1, "the write of the fiber is visible");
    strand.join();
}
