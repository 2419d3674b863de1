// SPDX-License-Identifier: Apache-2.0
// The forks of tasks: sennit/detail/core/task_fork.hpp, src/core/task/task_fork.cpp.
#include "engine.hpp"

#include "sennit/async_fork_each.hpp"
#include "sennit/async_fork_join.hpp"
#include "sennit/block_on.hpp"
#include "sennit/channel.hpp"
#include "sennit/event.hpp"
#include "sennit/task.hpp"

#include <memory>
#include <optional>

namespace {

using sennit::task;

task<> set_to(sim::var<int>& into, int value) {
    into = value;
    co_return;
}

} // namespace

// The rest of the parent's walk is stolen before, while or after the parent's first child ends. The
// parent sees what both children wrote, and its frame is freed right after its end.
SIM_SCENARIO_WITHIN(task_fork, rest_is_stolen_or_taken_back, .preemptions = 1, .stale_reads = 1) {
    engine two(2);
    sim::var<int> left{0}, right{0};
    const auto body = [&]() -> task<int> {
        co_await sennit::async_fork_join([&] { return set_to(left, 1); },
                                         [&] { return set_to(right, 2); });
        co_return left + right;
    };
    sim::check(two.run([&] { return sennit::block_on(body()); }) == 3,
               "the parent sees both results");
}

// The first child waits, so the activation takes the rest back and runs it. A thread ends the wait
// before, while or after that, and the child's end finds no rest.
SIM_SCENARIO_WITHIN(task_fork, rest_is_left_behind, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::channel<int> values(1);
    int got = 0, other = 0;
    sim::thread giver([&] { values.push(42); });
    const auto body = [&]() -> task<> {
        co_await sennit::async_fork_join(
            [&]() -> task<> { got = (co_await values.async_pop()).value_or(-1); },
            [&]() -> task<> {
                other = 1;
                co_return;
            });
    };
    one.run([&] { sennit::block_on(body()); });
    giver.join();
    sim::check(got == 42 && other == 1, "both children have ended");
}

// A child is continued by its brother on another worker, while the worker that ran the child's wait
// still takes the rest back.
SIM_SCENARIO_WITHIN(task_fork, child_continues_elsewhere, .preemptions = 1, .stale_reads = 1) {
    engine two(2);
    sennit::event go;
    sim::var<int> seen{0};
    const auto body = [&]() -> task<int> {
        co_await sennit::async_fork_join([&]() -> task<> { co_await go.async_wait(); },
                                         [&]() -> task<> {
                                             seen = 1;
                                             go.set();
                                             co_return;
                                         });
        co_return seen;
    };
    sim::check(two.run([&] { return sennit::block_on(body()); }) == 1,
               "the parent continues behind both children");
}

// A stolen rest has a rest of its own, which its thief offers, takes back or loses.
SIM_SCENARIO_WITHIN(task_fork, stolen_rest_is_divided, .preemptions = 1, .stale_reads = 0) {
    engine two(2);
    sim::var<int> seen[4];
    const auto body = [&]() -> task<int> {
        co_await sennit::async_fork_each(
            4, [&](std::size_t i) { return set_to(seen[i], seen[i] + 1); });
        co_return seen[0] + seen[1] + seen[2] + seen[3];
    };
    sim::check(two.run([&] { return sennit::block_on(body()); }) == 4, "each child has run once");
}
