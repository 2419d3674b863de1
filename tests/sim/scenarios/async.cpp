// SPDX-License-Identifier: Apache-2.0
// async, spawn: sennit/async.hpp. The fiber fills a state that it shares with its future, and lies
// in the same memory. The last of the two frees both.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/async.hpp"
#include "sennit/event.hpp"

#include <optional>
#include <stdexcept>

SIM_SCENARIO_WITHIN(async, get_races_end_of_function, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sim::var<int> data{0};
    sennit::future<int> future = one.run([&] {
        return sennit::async([&] {
            data = 1;
            return 42;
        });
    });
    sim::check(future.get() == 42 && data == 1,
               "the value has arrived, and the writes before it are visible");
}

SIM_SCENARIO_WITHIN(async, future_is_dropped_while_function_ends, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    sennit::event ran;
    std::optional<sennit::future<void>> future =
        one.run([&] { return sennit::spawn([&] { ran.set(); }); });
    future.reset();
    ran.wait();
}

SIM_SCENARIO_WITHIN(async, exception_reaches_timed_waiter, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::event gate;
    const time_point when = soon();
    sennit::future<void> future = one.run([&] {
        return sennit::async([&] {
            gate.wait();
            throw std::runtime_error("x");
        });
    });
    sim::thread opener([&] {
        sleep_until(when);
        gate.set();
    });
    const bool in_time = future.wait_until(when) == sennit::future_status::ready;
    bool thrown = false;
    try {
        future.get();
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    opener.join();
    sim::check(thrown && (in_time || gate.try_wait()),
               "the exception has arrived, in time or late");
}

// The source becomes ready before `then`, during it, or later. The fiber of the continuation runs
// on the source's worker or on another.
SIM_SCENARIO_WITHIN(async, continuation_runs_after_source, .preemptions = 2, .stale_reads = 0) {
    engine one(2);
    sim::var<int> data{0};
    const int got = one.run([&] {
        return sennit::async([&] {
                   data = 1;
                   return 41;
               })
            .then([&](sennit::future<int> ready) { return ready.get() + data; })
            .get();
    });
    sim::check(got == 42, "the continuation sees the writes of the source");
}
