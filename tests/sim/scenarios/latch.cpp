// SPDX-License-Identifier: Apache-2.0
// latch: sennit/latch.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/latch.hpp"

#include <array>
#include <memory>

SIM_SCENARIO_WITHIN(latch, count_down_publishes_earlier_writes, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::latch all(2);
    std::array<sim::var<int>, 2> data;
    sim::thread first([&] {
        data[0] = 1;
        all.count_down();
    });
    sim::thread second([&] {
        data[1] = 1;
        all.count_down();
    });
    all.wait();
    sim::check(data[0] == 1 && data[1] == 1, "the writes before count_down are visible");
    first.join();
    second.join();
}

SIM_SCENARIO_WITHIN(latch, count_down_wakes_all_waiters, .preemptions = 2, .stale_reads = 1) {
    sennit::latch all(1);
    sim::thread first([&] { all.wait(); });
    sim::thread second([&] { all.wait(); });
    all.count_down();
    first.join();
    second.join();
}

SIM_SCENARIO_WITHIN(latch, arriving_threads_wait_for_each_other, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::latch all(2);
    std::array<sim::var<int>, 2> data;
    sim::in_threads(2, [&](unsigned me) {
        data[me] = 1;
        all.arrive_and_wait();
        sim::check(data[1 - me] == 1, "the write of the other thread is visible");
    });
}

// The last count_down is about to return when the latch is destroyed.
SIM_SCENARIO_WITHIN(latch, latch_may_be_destroyed_after_wait, .preemptions = 3, .stale_reads = 1) {
    auto all = std::make_unique<sennit::latch>(1);
    sim::thread other([&] { all->count_down(); });
    all->wait();
    all.reset();
    other.join();
}

SIM_SCENARIO_WITHIN(latch, cancelled_wait_races_last_count_down, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::latch all(1);
    sennit::sched::cancel_scope scope(nullptr);
    sim::var<int> data{0};
    sim::thread counter([&] {
        data = 1;
        all.count_down();
    });
    sim::thread canceller([&] { scope.cancel(); });
    if (not_cancelled(scope, [&] { all.wait(); }))
        sim::check(data == 1, "the writes before count_down are visible");
    counter.join();
    canceller.join();
    sim::check(all.try_wait(), "the latch is open");
}

// ---- on workers

SIM_SCENARIO_WITHIN(latch, fiber_waits_for_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::latch open(1);
    sim::var<int> data{0};
    sennit::fiber strand({.runtime = &*one}, [&] {
        open.wait();
        sim::check(data == 1, "the writes before count_down are visible");
    });
    data = 1;
    open.count_down();
    strand.join();
}
