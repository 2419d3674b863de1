// SPDX-License-Identifier: Apache-2.0
// event: sennit/event.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"

namespace {
constexpr auto automatic = sennit::event::mode::auto_reset;
}

SIM_SCENARIO_WITHIN(event, carries_what_came_before_the_set, .preemptions = 3, .stale_reads = 2) {
    sennit::event come;
    sim::var<int> data{0};
    sim::thread other([&] {
        data = 1;
        come.set();
    });
    come.wait();
    sim::check(data == 1, "what came before is seen");
    sim::check(come.try_wait(), "it stays set");
    other.join();
}

SIM_SCENARIO_WITHIN(event, all_who_wait_go_on, .preemptions = 2, .stale_reads = 1) {
    sennit::event come;
    sim::thread first([&] { come.wait(); });
    sim::thread second([&] { come.wait(); });
    come.set();
    first.join();
    second.join();
}

SIM_SCENARIO_WITHIN(event, each_automatic_set_lets_one_through, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::event turn(automatic, true);
    sim::var<int> count{0};
    sim::in_threads(3, [&](unsigned) {
        turn.wait();
        count = count + 1; // alone
        turn.set();
    });
    sim::check(count == 3 && turn.try_wait() && !turn.try_wait(), "it is set, once");
}

SIM_SCENARIO_WITHIN(event, a_timed_wait_meets_an_automatic_set, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::event turn(automatic);
    const time_point when = soon();
    bool got = false;
    sim::thread other([&] { got = turn.wait_until(when); });
    sleep_until(when);
    turn.set();
    other.join();
    sim::check(turn.try_wait() == !got, "the set was used up, or is there");
}

SIM_SCENARIO_WITHIN(event, a_cancelled_wait_loses_no_automatic_set, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::event turn(automatic);
    sennit::sched::cancel_scope scope(nullptr);
    bool got = false;
    sim::thread other([&] { got = not_cancelled(scope, [&] { turn.wait(); }); });
    sim::thread canceller([&] { scope.cancel(); });
    turn.set();
    other.join();
    canceller.join();
    sim::check(turn.try_wait() == !got, "the set was used up, or is there");
}

// Whoever waited when it was set goes on, even if it is reset at once.
SIM_SCENARIO_WITHIN(event, a_reset_keeps_nobody_who_was_let_through, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::event come;
    const time_point when = soon();
    sim::thread waiter([&] { come.wait(); });
    sleep_until(when); // it waits now
    come.set();
    come.reset();
    waiter.join();
}

// ---- on workers

SIM_SCENARIO_WITHIN(event, a_fiber_waits_for_a_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::event come;
    sim::var<int> data{0};
    sennit::fiber strand({.runtime = &*one}, [&] {
        come.wait();
        sim::check(data == 1, "what came before is seen");
    });
    data = 1;
    come.set();
    strand.join();
}
