// SPDX-License-Identifier: Apache-2.0
// Tests async_enter: exclusion among tasks, fibers and threads, order of arrival, entering again,
// and calls that waitfor accepts.
#include "support.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/future.hpp>
#include <sennit/monitor.hpp>
#include <sennit/nursery.hpp>

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sennit::async_enter;
using sennit::block_on;
using sennit::task;

class monitor_awaits : public with_workers {};
SENNIT_FOR_WORKERS(monitor_awaits);

struct room : sennit::monitor {
    int inside = 0;
    int entered = 0;
    void use() {
        EXPECT_EQ(inside++, 0);
        ++entered;
        --inside;
    }
};

task<> use_across_a_turn(room& one) {
    auto in = co_await async_enter(one);
    EXPECT_EQ(one.inside++, 0);
    co_await sennit::async_yield();
    ++one.entered;
    --one.inside;
}

TEST_P(monitor_awaits, tasks_fibers_and_threads_exclude_each_other) {
    room one;
    static constexpr int rounds = 100;
    const auto blocks = [&] {
        for (int i = 0; i < rounds; ++i) {
            auto in = sennit::enter(one);
            one.use();
        }
    };
    std::thread outside(blocks);
    runtime.run([&] {
        const auto awaits = [&]() -> task<> {
            for (int i = 0; i < rounds; ++i) co_await use_across_a_turn(one);
        };
        std::vector<sennit::future<void>> all;
        for (int i = 0; i < 4; ++i) all.push_back(sennit::spawn(awaits));
        sennit::fiber beside([&] {
            for (int i = 0; i < rounds; ++i) {
                auto in = sennit::enter(one);
                EXPECT_EQ(one.inside++, 0);
                sennit::this_fiber::yield();
                ++one.entered;
                --one.inside;
            }
        });
        for (auto& each : all) each.get();
        beside.join();
    });
    outside.join();
    EXPECT_EQ(one.entered, 6 * rounds);
}

TEST_P(monitor_awaits, task_enters_again_and_through_the_tasks_that_it_awaits) {
    room one;
    const auto inner = [&]() -> task<> {
        auto in = co_await async_enter(one);
        co_await sennit::async_yield();
    };
    const auto other = [&]() -> task<> {
        auto in = co_await async_enter(one);
        one.use();
    };
    const auto body = [&]() -> task<> {
        sennit::future<void> waits;
        {
            auto in = co_await async_enter(one);
            waits = sennit::spawn(other);
            co_await inner();
            auto again = sennit::enter(one); // The blocking form knows the task, too.
            co_await sennit::async_yield();
            EXPECT_EQ(one.entered, 0);
        }
        co_await std::move(waits);
    };
    runtime.run([&] { block_on(body()); });
    EXPECT_EQ(one.entered, 1);
}

// On one worker, a task that has counted itself has entered the queue before another task runs.
TEST(monitor_awaits_alone, monitor_is_handed_over_in_order_of_arrival) {
    sennit::runtime one_worker({.workers = 1});
    room one;
    int arrived = 0;
    std::vector<int> order;
    const auto awaits = [&](int number) -> task<> {
        ++arrived;
        auto in = co_await async_enter(one);
        order.push_back(number);
    };
    std::vector<sennit::future<void>> all;
    const auto holds = [&]() -> task<> {
        auto in = co_await async_enter(one);
        for (int i = 0; i < 6; ++i) {
            all.push_back(sennit::spawn(awaits, i));
            while (arrived == i) co_await sennit::async_yield();
        }
        EXPECT_TRUE(order.empty());
    };
    one_worker.run([&] {
        block_on(holds());
        for (auto& each : all) each.get();
    });
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5}));
}

struct cell : sennit::monitor {
    int value = 0;
    bool full = false;
    task<> put(int given) {
        auto in = co_await async_enter<&cell::put>(*this);
        if (full) sennit::waitfor(sennit::accept<&cell::take>(*this));
        value = given;
        full = true;
    }
    task<int> take() {
        auto in = co_await async_enter<&cell::take>(*this);
        if (!full) sennit::waitfor(sennit::accept<&cell::put>(*this));
        full = false;
        co_return value;
    }
};

TEST_P(monitor_awaits, waitfor_accepts_calls_of_tasks) {
    runtime.run([] {
        static constexpr int count = 200;
        cell one;
        const auto puts = [&]() -> task<> {
            for (int i = 0; i < count; ++i) co_await one.put(i);
        };
        const auto takes = [&]() -> task<> {
            for (int i = 0; i < count; ++i) {
                const int got = co_await one.take();
                EXPECT_EQ(got, i);
            }
        };
        sennit::future<void> from = sennit::spawn(puts);
        sennit::future<void> to = sennit::spawn(takes);
        from.get();
        to.get();
    });
}

struct buffer : sennit::monitor {
    sennit::condition not_full{*this}, not_empty{*this};
    std::vector<int> values;
};

TEST_P(monitor_awaits, task_may_wait_for_a_condition_inside) {
    runtime.run([] {
        static constexpr int count = 100;
        buffer one;
        const auto puts = [&]() -> task<> {
            for (int i = 0; i < count; ++i) {
                auto in = co_await async_enter(one);
                if (one.values.size() == 2) one.not_full.wait();
                one.values.push_back(i);
                one.not_empty.signal();
            }
        };
        const auto takes = [&]() -> task<> {
            for (int i = 0; i < count; ++i) {
                auto in = co_await async_enter(one);
                if (one.values.empty()) one.not_empty.wait();
                EXPECT_EQ(one.values.front(), i);
                one.values.erase(one.values.begin());
                one.not_full.signal();
            }
        };
        sennit::future<void> from = sennit::spawn(puts);
        sennit::future<void> to = sennit::spawn(takes);
        from.get();
        to.get();
    });
}

} // namespace
