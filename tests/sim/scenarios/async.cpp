// SPDX-License-Identifier: Apache-2.0
// async, spawn: sennit/async.hpp. The fiber fills a state that it shares with its future, and lies
// in the same memory: whoever drops it last frees both.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/async.hpp"
#include "sennit/event.hpp"

#include <optional>
#include <stdexcept>

SIM_SCENARIO_WITHIN(async, get_meets_the_end_of_the_function, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sim::var<int> data{0};
    sennit::future<int> future = one.run([&] {
        return sennit::async([&] {
            data = 1;
            return 42;
        });
    });
    sim::check(future.get() == 42 && data == 1, "the value, and what came before it, has arrived");
}

SIM_SCENARIO_WITHIN(async, the_future_is_dropped_while_the_function_ends, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    sennit::event ran;
    std::optional<sennit::future<void>> future =
        one.run([&] { return sennit::spawn([&] { ran.set(); }); });
    future.reset();
    ran.wait();
}

SIM_SCENARIO_WITHIN(async, what_it_throws_reaches_who_waits_with_a_limit, .preemptions = 2,
                    .stale_reads = 1) {
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
    sim::check(thrown && (in_time || gate.try_wait()), "in time or not, it has arrived");
}

// The source is ready before `then`, meanwhile, or later; the fiber of the second runs on the same
// worker or another.
SIM_SCENARIO_WITHIN(async, one_goes_on_from_another, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(got == 42, "the second has seen what the first did");
}
