// SPDX-License-Identifier: Apache-2.0
// packaged_task: sennit/packaged_task.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/packaged_task.hpp"

#include <optional>
#include <utility>

SIM_SCENARIO_WITHIN(packaged_task, call_races_get, .preemptions = 3, .stale_reads = 2) {
    sim::var<int> data{0};
    sennit::packaged_task<int(int)> task([&](int value) {
        data = 1;
        return value + 1;
    });
    sennit::future<int> future = task.get_future();
    sim::thread caller([&] { task(41); });
    sim::check(future.get() == 42 && data == 1,
               "the value has arrived, and the writes before it are visible");
    caller.join();
}

SIM_SCENARIO_WITHIN(packaged_task, both_ends_are_dropped_concurrently, .preemptions = 3,
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

SIM_SCENARIO_WITHIN(packaged_task, dropped_task_breaks_promise, .preemptions = 3,
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
    sim::check(broken, "the waiter learns of the broken promise");
}

// The end of the call and the waiter's deadline come together.
SIM_SCENARIO_WITHIN(packaged_task, call_races_deadline_of_wait, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::packaged_task<int()> task([] { return 42; });
    sennit::future<int> future = task.get_future();
    const time_point when = soon();
    sim::thread caller([&] {
        sleep_until(when);
        task();
    });
    (void)future.wait_until(when); // either result is correct
    sim::check(future.get() == 42, "the value is not lost");
    caller.join();
}

// ---- on workers

SIM_SCENARIO_WITHIN(packaged_task, fiber_runs_task_for_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::packaged_task<int(int)> task([](int value) { return 6 * value; });
    sennit::future<int> future = task.get_future();
    sennit::fiber caller({.runtime = &*one}, std::move(task), 7);
    sim::check(future.get() == 42, "the value has arrived");
    caller.join();
}
