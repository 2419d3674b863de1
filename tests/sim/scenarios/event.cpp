// SPDX-License-Identifier: Apache-2.0
// event: sennit/event.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"

namespace {
constexpr auto automatic = sennit::event::mode::auto_reset;
}

SIM_SCENARIO_WITHIN(event, set_publishes_earlier_writes, .preemptions = 3, .stale_reads = 2) {
    sennit::event come;
    sim::var<int> data{0};
    sim::thread other([&] {
        data = 1;
        come.set();
    });
    come.wait();
    sim::check(data == 1, "the write before the set is visible");
    sim::check(come.try_wait(), "the event stays set");
    other.join();
}

SIM_SCENARIO_WITHIN(event, set_wakes_all_waiters, .preemptions = 2, .stale_reads = 1) {
    sennit::event come;
    sim::thread first([&] { come.wait(); });
    sim::thread second([&] { come.wait(); });
    come.set();
    first.join();
    second.join();
}

SIM_SCENARIO_WITHIN(event, automatic_set_releases_one_waiter, .preemptions = 2, .stale_reads = 1) {
    sennit::event turn(automatic, true);
    sim::var<int> count{0};
    sim::in_threads(3, [&](unsigned) {
        turn.wait();
        count = count + 1; // no other waiter is inside
        turn.set();
    });
    sim::check(count == 3 && turn.try_wait() && !turn.try_wait(), "the event is set exactly once");
}

SIM_SCENARIO_WITHIN(event, timed_wait_races_automatic_set, .preemptions = 3, .stale_reads = 1) {
    sennit::event turn(automatic);
    const time_point when = soon();
    bool got = false;
    sim::thread other([&] { got = turn.wait_until(when); });
    sleep_until(when);
    turn.set();
    other.join();
    sim::check(turn.try_wait() == !got, "the set was consumed, or is pending");
}

SIM_SCENARIO_WITHIN(event, cancelled_wait_loses_no_automatic_set, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::event turn(automatic);
    sennit::sched::cancel_scope scope(nullptr);
    bool got = false;
    sim::thread other([&] { got = not_cancelled(scope, [&] { turn.wait(); }); });
    sim::thread canceller([&] { scope.cancel(); });
    turn.set();
    other.join();
    canceller.join();
    sim::check(turn.try_wait() == !got, "the set was consumed, or is pending");
}

// A waiter that waited when the event was set continues, even if the event is reset immediately.
SIM_SCENARIO_WITHIN(event, reset_keeps_released_waiter_running, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::event come;
    const time_point when = soon();
    sim::thread waiter([&] { come.wait(); });
    sleep_until(when); // the other thread waits now
    come.set();
    come.reset();
    waiter.join();
}

// ---- on workers

SIM_SCENARIO_WITHIN(event, fiber_waits_for_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::event come;
    sim::var<int> data{0};
    sennit::fiber strand({.runtime = &*one}, [&] {
        come.wait();
        sim::check(data == 1, "the write before the set is visible");
    });
    data = 1;
    come.set();
    strand.join();
}
