// SPDX-License-Identifier: Apache-2.0
// spawn of tasks, futures in tasks, sleep and yield.
#include "support.hpp"

#include <sennit/promise.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::block_on;
using sennit::future;
using sennit::spawn;
using sennit::task;

class spawned_tasks : public with_workers {};
SENNIT_FOR_WORKERS(spawned_tasks);

task<std::string> join_text(std::string a, const std::string& b) {
    co_await sennit::async_yield();
    co_return a + b;
}

TEST_P(spawned_tasks, spawn_keeps_copies_of_function_and_arguments) {
    runtime.run([] {
        const auto later = [] {
            std::string left(40, 'a'), right(40, 'b');
            return spawn(join_text, left, right); // `right` is a reference parameter
        };
        EXPECT_EQ(later().get(), std::string(40, 'a') + std::string(40, 'b'));
        future<std::size_t> size = spawn([text = std::string(50, 'x')]() -> task<std::size_t> {
            co_await sennit::async_yield();
            co_return text.size();
        });
        EXPECT_EQ(size.get(), 50u);
        auto owned = spawn([](std::unique_ptr<int> p) -> task<int> { co_return *p; },
                           std::make_unique<int>(9));
        EXPECT_EQ(owned.get(), 9);
        EXPECT_EQ(spawn(join_text("l", "r")).get(), "lr"); // a task that exists already
    });
}

TEST_P(spawned_tasks, function_and_frame_end_before_future_is_ready) {
    runtime.run([] {
        for (int i = 0; i < 100; ++i) {
            future<int> value = spawn([kept = counted(4)]() -> task<int> {
                counted local(kept.value);
                co_await sennit::async_yield();
                co_return local.value;
            });
            value.wait();
            EXPECT_EQ(counted::alive(), 0);
            EXPECT_EQ(value.get(), 4);
        }
    });
}

TEST_P(spawned_tasks, exception_goes_into_future) {
    runtime.run([] {
        future<void> failed = spawn([]() -> task<> {
            co_await sennit::async_yield();
            throw std::runtime_error("spawned");
        });
        EXPECT_THROW(failed.get(), std::runtime_error);
    });
}

TEST_P(spawned_tasks, dropped_future_lets_task_run_to_its_end) {
    runtime.run([] {
        sennit::promise<int> told;
        future<int> heard = told.get_future();
        (void)spawn(
            [](sennit::promise<int> to) -> task<> {
                co_await sennit::async_yield();
                to.set_value(3);
            },
            std::move(told));
        EXPECT_EQ(heard.get(), 3);
    });
}

TEST_P(spawned_tasks, many_tasks_wait_for_futures_of_each_other) {
    runtime.run([] {
        const auto link = [](future<int> before) -> task<int> {
            const int value = co_await std::move(before);
            co_return value + 1;
        };
        sennit::promise<int> first;
        future<int> chain = first.get_future();
        for (int i = 0; i < 10'000; ++i) chain = spawn(link, std::move(chain));
        first.set_value(0);
        EXPECT_EQ(chain.get(), 10'000);
    });
}

TEST_P(spawned_tasks, shared_future_and_broken_promise_are_awaited) {
    runtime.run([] {
        sennit::promise<std::string> source;
        sennit::shared_future<std::string> all = source.get_future().share();
        const auto read = [](sennit::shared_future<std::string> from) -> task<std::size_t> {
            const std::string& text = co_await from;
            co_return text.size();
        };
        std::vector<future<std::size_t>> readers;
        for (int i = 0; i < 10; ++i) readers.push_back(spawn(read, all));
        source.set_value("four");
        for (future<std::size_t>& one : readers) EXPECT_EQ(one.get(), 4u);
        future<int> broken = sennit::promise<int>().get_future();
        const auto fails = [](future<int> from) -> task<int> {
            co_return co_await std::move(from);
        };
        EXPECT_THROW(block_on(fails(std::move(broken))), sennit::future_error);
    });
}

TEST_P(spawned_tasks, sleeping_tasks_end) {
    runtime.run([] {
        std::vector<int> order;
        const auto sleeper = [](std::vector<int>& to, int number) -> task<> {
            co_await sennit::async_sleep_for(number * 3ms);
            to.push_back(number);
        };
        const auto all = [&]() -> task<> {
            // On one strand each. A stopped machine may find both times over at once, and then
            // wakes them in any order.
            future<void> late = spawn(sleeper, std::ref(order), 3);
            co_await sleeper(order, 1);
            co_await std::move(late);
        };
        block_on(all());
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, (std::vector{1, 3}));
        const auto past = []() -> task<> { co_await sennit::async_sleep_for(-1s); };
        block_on(past());
        const auto until = []() -> task<> {
            co_await sennit::async_sleep_until(std::chrono::steady_clock::now() + 1ms);
        };
        block_on(until());
    });
}

TEST_P(spawned_tasks, yield_lets_other_task_run) {
    runtime.run([] {
        std::atomic<bool> go{false};
        future<int> waits = spawn(
            [](std::atomic<bool>& flag) -> task<int> {
                int rounds = 0;
                while (!flag) {
                    co_await sennit::async_yield();
                    ++rounds;
                }
                co_return rounds;
            },
            std::ref(go));
        future<void> sets = spawn(
            [](std::atomic<bool>& flag) -> task<> {
                flag = true;
                co_return;
            },
            std::ref(go));
        sets.get();
        EXPECT_GE(waits.get(), 0);
    });
}

} // namespace
