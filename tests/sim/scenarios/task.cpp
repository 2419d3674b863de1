// SPDX-License-Identifier: Apache-2.0
// The waits of tasks: sennit/detail/core/task_strand.hpp, src/core/task/task_strand.cpp.
//
// A task needs a worker. A plain thread ends the wait, so that the two race. The runtime has one
// worker unless the scenario is about a strand that continues on another.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/channel.hpp"
#include "sennit/condition_variable.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/latch.hpp"
#include "sennit/mutex.hpp"
#include "sennit/promise.hpp"
#include "sennit/task.hpp"

#include <memory>
#include <mutex>
#include <optional>

namespace {

using sennit::task;

task<int> pop_one(sennit::channel<int>& from) {
    const std::optional<int> one = co_await from.async_pop();
    co_return one.value_or(-1);
}

task<> wait_and_note(sennit::event& until, sim::var<int>& seen, sim::var<int>& noted) {
    co_await until.async_wait();
    noted = seen;
}

} // namespace

// The thread gives the value before the task enters the list, or to the waiting task.
SIM_SCENARIO_WITHIN(task, await_races_push, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::channel<int> values(1);
    sennit::future<int> got;
    one.run([&] { got = sennit::spawn(pop_one, std::ref(values)); });
    values.push(42);
    sim::check(got.get() == 42, "the task gets the value");
}

// A fiber waits in block_on, and the task has the fiber's identity. The strand lies in the frame of
// the fiber, which is gone as soon as the task has ended.
SIM_SCENARIO_WITHIN(task, block_on_waits_for_task_that_suspended, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    sennit::event go;
    sim::var<int> seen{0}, noted{0};
    sim::thread setter([&] {
        seen = 7;
        go.set();
    });
    one.run([&] { sennit::block_on(wait_and_note(go, seen, noted)); });
    sim::check(noted == 7, "the task sees what came before the set");
    setter.join();
}

// The worker that runs the await is still inside of it when another worker resumes the task, ends
// it, and frees its memory.
SIM_SCENARIO_WITHIN(task, task_ends_elsewhere_before_await_returns, .preemptions = 1,
                    .stale_reads = 1) {
    engine two(2);
    sennit::channel<int> values;
    sennit::future<int> got;
    two.run([&] {
        got = sennit::spawn(pop_one, std::ref(values));
        sennit::spawn([](sennit::channel<int>& to) -> task<> { co_await to.async_push(5); },
                      std::ref(values))
            .get();
    });
    sim::check(got.get() == 5, "the task gets the value");
}

// The claim of a cancelled scope and that of the source race. The task learns of one of them.
SIM_SCENARIO_WITHIN(task, cancel_races_push, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    sennit::channel<int> values(1);
    std::optional<int> got;
    sennit::sched::cancel_scope scope(nullptr);
    sim::thread canceller([&] { scope.cancel(); });
    sim::thread giver([&] { values.push(42); });
    one.run([&] {
        in_scope here(scope);
        try {
            got = sennit::block_on(pop_one(values));
        } catch (const sennit::cancelled&) {
        }
    });
    canceller.join();
    giver.join();
    // A value that the task did not get is still in the channel.
    sim::check(got ? *got == 42 && values.size() == 0 : values.size() == 1,
               "the value is with the task or in the channel");
}

// A second wait uses the strand's place again, while the claimant of the first one may still be
// inside the source.
SIM_SCENARIO_WITHIN(task, second_wait_reuses_place_of_first, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::event first, second;
    const auto body = [&]() -> task<int> {
        co_await first.async_wait();
        co_await second.async_wait();
        co_return 1;
    };
    sennit::future<int> ended;
    one.run([&] { ended = sennit::spawn(body()); });
    first.set();
    second.set();
    sim::check(ended.get() == 1, "both waits end");
}

// The fiber ends on one worker while a task on the other one joins it, and frees it.
SIM_SCENARIO_WITHIN(task, task_joins_fiber_that_ends, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sim::var<int> left{0};
    two.run([&] {
        const auto joins = [&]() -> task<int> {
            sennit::fiber ends([&] { left = 7; });
            co_await ends.async_join();
            co_return left;
        };
        sim::check(sennit::block_on(joins()) == 7, "the task sees what the fiber has done");
    });
}

// The lock is handed to a waiting task.
SIM_SCENARIO_WITHIN(task, unlock_hands_mutex_to_waiting_task, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::mutex guard;
    sim::var<int> count{0};
    guard.lock();
    const auto body = [&]() -> task<> {
        co_await guard.async_lock();
        count = count + 1;
        guard.unlock();
    };
    sennit::future<void> ended;
    one.run([&] { ended = sennit::spawn(body()); });
    count = count + 1;
    guard.unlock();
    ended.get();
    sim::check(count == 2, "both have been inside");
}

// The last child to end continues the parent; or the parent itself, if both have ended before it
// waits.
SIM_SCENARIO_WITHIN(task, parent_of_group_continues_once, .preemptions = 1, .stale_reads = 1) {
    engine two(2);
    sim::var<int> left{0}, right{0};
    const auto child = [](sim::var<int>& into) -> task<> {
        into = 1;
        co_return;
    };
    const auto body = [&]() -> task<int> {
        co_await sennit::async_all(child(left), child(right));
        co_return left + right;
    };
    sim::check(two.run([&] { return sennit::block_on(body()); }) == 2,
               "the parent sees both results");
}

// A notifier takes the user's lock as soon as the task has released it, and must find the task.
SIM_SCENARIO_WITHIN(task, notification_finds_task_that_released_the_lock, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    sennit::mutex guard;
    sennit::condition_variable changed;
    sim::var<bool> ready{false};
    const auto body = [&]() -> task<> {
        std::unique_lock<sennit::mutex> held = co_await guard.async_scoped_lock();
        co_await changed.async_wait(held, [&] { return ready.get(); });
    };
    sennit::future<void> ended;
    one.run([&] { ended = sennit::spawn(body()); });
    {
        std::lock_guard held(guard);
        ready = true;
    }
    changed.notify_one();
    ended.get();
}

// A select has two sources, each of which may be ready first.
SIM_SCENARIO_WITHIN(task, select_takes_one_of_two_values, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::channel<int> a(1), b(1);
    int got = 0;
    const auto body = [&]() -> task<> {
        co_await sennit::async_select(sennit::on_pop(a, [&](int v) { got += v; }),
                                      sennit::on_pop(b, [&](int v) { got += v; }));
    };
    sennit::future<void> ended;
    one.run([&] { ended = sennit::spawn(body()); });
    sim::thread other([&] { a.push(1); });
    b.push(2);
    ended.get();
    other.join();
    sim::check(got + static_cast<int>(a.size()) + 2 * static_cast<int>(b.size()) == 3,
               "one value is taken, the other is in its channel");
}
