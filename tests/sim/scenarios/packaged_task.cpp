// SPDX-License-Identifier: Apache-2.0
// packaged_task: sennit/packaged_task.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/packaged_task.hpp"

#include <optional>
#include <utility>

SIM_SCENARIO_WITHIN(packaged_task, a_call_meets_the_get, .preemptions = 3, .stale_reads = 2) {
    sim::var<int> data{0};
    sennit::packaged_task<int(int)> task([&](int value) {
        data = 1;
        return value + 1;
    });
    sennit::future<int> future = task.get_future();
    sim::thread caller([&] { task(41); });
    sim::check(future.get() == 42 && data == 1, "the value, and what came before it, has arrived");
    caller.join();
}

SIM_SCENARIO_WITHIN(packaged_task, both_ends_are_dropped_at_once, .preemptions = 3,
                    .stale_reads = 2) {
    std::optional<sennit::packaged_task<void()>> task(std::in_place, [] {});
    std::optional<sennit::future<void>> future(task->get_future());
    sim::thread caller([&] {
        (*task)();
        task.reset();
    });
    future.reset();
    caller.join();
}

SIM_SCENARIO_WITHIN(packaged_task, that_is_dropped_breaks_its_promise, .preemptions = 3,
                    .stale_reads = 2) {
    std::optional<sennit::packaged_task<void()>> task(std::in_place, [] {});
    sennit::future<void> future = task->get_future();
    sim::thread dropper([&] { task.reset(); });
    bool broken = false;
    try {
        future.get();
    } catch (const sennit::future_error& error) {
        broken = error.code() == sennit::future_errc::broken_promise;
    }
    dropper.join();
    sim::check(broken, "whoever waits is told");
}

// The call's end, and the limit of who waits for it, come together.
SIM_SCENARIO_WITHIN(packaged_task, a_call_meets_the_limit_of_a_wait, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::packaged_task<int()> task([] { return 42; });
    sennit::future<int> future = task.get_future();
    const time_point when = soon();
    sim::thread caller([&] {
        sleep_until(when);
        task();
    });
    (void)future.wait_until(when); // either
    sim::check(future.get() == 42, "the value is not lost");
    caller.join();
}

// ---- on workers

SIM_SCENARIO_WITHIN(packaged_task, a_fiber_calls_it_for_a_thread, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    sennit::packaged_task<int(int)> task([](int value) { return 6 * value; });
    sennit::future<int> future = task.get_future();
    sennit::fiber caller({.runtime = &*one}, std::move(task), 7);
    sim::check(future.get() == 42, "the value has arrived");
    caller.join();
}
