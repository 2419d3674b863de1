// SPDX-License-Identifier: Apache-2.0
// async_fork_join and async_fork_each.
#include "support.hpp"

#include <sennit/cancelled.hpp>
#include <sennit/channel.hpp>
#include <sennit/event.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::block_on;
using sennit::task;

class async_fork : public with_workers {};
SENNIT_FOR_WORKERS(async_fork);

task<long> fork_fib(int n) {
    if (n < 2) co_return n;
    const auto [a, b] = co_await sennit::async_fork_join(fork_fib(n - 1), fork_fib(n - 2));
    co_return a + b;
}
task<int> forked_value(int value) {
    co_return value;
}
task<> forked_nothing() {
    co_return;
}

TEST_P(async_fork, returns_results_in_order) {
    const auto body = []() -> task<> {
        int there = 7;
        const auto reference = [&there]() -> task<int&> { co_return there; };
        const auto moved = []() -> task<std::unique_ptr<int>> {
            co_return std::make_unique<int>(3);
        };
        auto [a, b, nothing, c, d] = co_await sennit::async_fork_join(
            forked_value(1), moved, forked_nothing(), reference, [] { return 5L; });
        EXPECT_EQ(a, 1);
        EXPECT_EQ(*b, 3);
        static_assert(std::is_same_v<decltype(nothing), std::monostate>);
        EXPECT_EQ(&c.get(), &there);
        EXPECT_EQ(d, 5L);
        co_await sennit::async_fork_join(forked_nothing(), [] {});
    };
    runtime.run([&] { block_on(body()); });
    block_on(body()); // On a thread that is no worker.
}

TEST_P(async_fork, tree_has_right_sum) {
    runtime.run([] { EXPECT_EQ(block_on(fork_fib(22)), 17711); });
}

// A chain that is deeper than a fork stack has slots.
task<int> fork_chain(int depth) {
    if (depth == 0) co_return 0;
    const auto [below, one] = co_await sennit::async_fork_join(
        [depth] { return fork_chain(depth - 1); }, [] { return forked_value(1); });
    co_return below + one;
}
TEST_P(async_fork, nests_deeper_than_the_fork_stack) {
    runtime.run([] { EXPECT_EQ(block_on(fork_chain(200'000)), 200'000); });
}

task<int> forked_pop(sennit::channel<int>& from) {
    co_return (co_await from.async_pop()).value_or(-1);
}
task<> forked_push(sennit::channel<int>& to, int value) {
    co_await to.async_push(value);
}

TEST_P(async_fork, children_may_wait_for_each_other) {
    const auto body = [](int round) -> task<> {
        sennit::channel<int> forth, back;
        const auto answer = [&]() -> task<> {
            const int got = co_await forked_pop(forth);
            co_await forked_push(back, got + 1);
        };
        const auto ask = [&]() -> task<int> {
            co_await forked_push(forth, round);
            co_return co_await forked_pop(back);
        };
        const auto [first, none] = co_await sennit::async_fork_join(ask, answer);
        EXPECT_EQ(first, round + 1);
        const auto [none_first, second] = co_await sennit::async_fork_join(answer, ask);
        EXPECT_EQ(second, round + 1);
    };
    runtime.run([&] {
        for (int i = 0; i < 200; ++i) block_on(body(i));
    });
}

// Each node waits before and after its fork, so most rests are left behind.
task<long> waiting_tree(int depth, unsigned seed) {
    if (seed % 3 == 0) co_await sennit::async_yield();
    if (depth == 0) co_return 1;
    long sum = 0;
    std::array<long, 4> parts{};
    co_await sennit::async_fork_each(4, [&, depth, seed](std::size_t i) -> task<> {
        parts[i] = co_await waiting_tree(depth - 1, seed * 5 + static_cast<unsigned>(i));
        if ((seed + i) % 4 == 1) co_await sennit::async_yield();
    });
    for (const long part : parts) sum += part;
    co_return sum;
}
TEST_P(async_fork, tree_of_tasks_that_yield_has_right_sum) {
    runtime.run([] {
        for (unsigned seed = 1; seed < 4; ++seed) EXPECT_EQ(block_on(waiting_tree(6, seed)), 4096);
    });
}

// A long chain in which each first child waits: the rests are run without growth of the stack.
task<int> left_behind(int depth, sennit::event& go) {
    if (depth == 0) {
        go.set();
        co_return 0;
    }
    const auto wait = [&go]() -> task<int> {
        co_await go.async_wait();
        co_return 1;
    };
    const auto [one, below] =
        co_await sennit::async_fork_join(wait, [depth, &go] { return left_behind(depth - 1, go); });
    co_return one + below;
}
TEST_P(async_fork, forks_left_behind_take_no_stack) {
    runtime.run([] {
        sennit::event go;
        EXPECT_EQ(block_on(left_behind(50'000, go)), 50'000);
    });
}

TEST_P(async_fork, child_may_block_its_context) {
    const auto body = []() -> task<> {
        sennit::event go;
        const auto block = [&go]() -> task<int> {
            go.wait();
            co_return 1;
        };
        const auto set = [&go]() -> task<int> {
            go.set();
            co_return 2;
        };
        const auto [a, b, c] = co_await sennit::async_fork_join(block, block, set);
        EXPECT_EQ(a + b + c, 4);
    };
    runtime.run([&] {
        for (int i = 0; i < 100; ++i) block_on(body());
    });
}

task<int> forked_throw(const char* why) {
    throw std::runtime_error(why);
    co_return 0;
}

TEST_P(async_fork, throws_first_exception_in_order_when_all_have_ended) {
    runtime.run([] {
        for (int i = 0; i < 100; ++i) {
            std::atomic<int> begun{0}, ended{0};
            const auto late = [&, i]() -> task<> {
                ++begun;
                for (int k = 0; k < i % 3; ++k) co_await sennit::async_yield();
                ++ended;
                throw std::runtime_error("late");
            };
            const auto body = [&]() -> task<> {
                co_await sennit::async_fork_join(late, [] { return forked_throw("second"); }, late);
            };
            try {
                block_on(body());
                ADD_FAILURE() << "no exception";
            } catch (const std::runtime_error& error) {
                EXPECT_STREQ(error.what(), "late");
            }
            EXPECT_EQ(begun, ended);
        }
    });
}

TEST(async_fork_serial, exception_drops_children_that_have_not_begun) {
    sennit::runtime one({.workers = 1});
    one.run([] {
        bool begun = false;
        auto argument = std::make_shared<int>(1);
        const std::weak_ptr<int> alive = argument;
        const auto second = [&begun](std::shared_ptr<int>) -> task<> {
            begun = true;
            co_return;
        };
        const auto body = [&]() -> task<> {
            task<> never = second(std::move(argument));
            co_await sennit::async_fork_join(forked_throw("first"), std::move(never));
        };
        EXPECT_THROW(block_on(body()), std::runtime_error);
        EXPECT_FALSE(begun);
        EXPECT_TRUE(alive.expired());
        int ran = 0;
        const auto each = [&]() -> task<> {
            co_await sennit::async_fork_each(10, [&](std::size_t i) {
                ++ran;
                if (i == 3) throw std::runtime_error("third");
            });
        };
        EXPECT_THROW(block_on(each()), std::runtime_error);
        EXPECT_EQ(ran, 4);
    });
}

TEST_P(async_fork, each_runs_every_number_once) {
    const auto body = [](std::size_t count, bool tasks) -> task<> {
        std::vector<std::atomic<int>> seen(count);
        if (tasks)
            co_await sennit::async_fork_each(count, [&](std::size_t i) -> task<> {
                if (i % 7 == 3) co_await sennit::async_yield();
                ++seen[i];
            });
        else
            co_await sennit::async_fork_each(count, [&](std::size_t i) { ++seen[i]; });
        for (const std::atomic<int>& one : seen) EXPECT_EQ(one, 1);
    };
    runtime.run([&] {
        for (const std::size_t count : {0u, 1u, 2u, 3u, 1000u, 20'000u}) {
            block_on(body(count, true));
            block_on(body(count, false));
        }
    });
}

TEST_P(async_fork, each_throws_exception_of_last_child) {
    const auto body = [](std::size_t at) -> task<> {
        co_await sennit::async_fork_each(20, [at](std::size_t i) -> task<> {
            if (i % 5 == 2) co_await sennit::async_yield();
            if (i >= at) throw std::runtime_error(std::to_string(i));
        });
    };
    runtime.run([&] {
        for (std::size_t at = 0; at < 20; ++at) {
            try {
                block_on(body(at));
                ADD_FAILURE() << "no exception";
            } catch (const std::runtime_error& error) {
                EXPECT_EQ(error.what(), std::to_string(at));
            }
        }
        block_on(body(20));
    });
}

TEST_P(async_fork, cancelled_scope_ends_waits_of_all_children) {
    runtime.run([] {
        for (int round = 0; round < 20; ++round) {
            std::atomic<int> cut{0};
            const auto sleep = [&cut](std::size_t) -> task<> {
                try {
                    co_await sennit::async_sleep_for(1h);
                } catch (const sennit::cancelled&) {
                    ++cut;
                    throw;
                }
            };
            const auto forks = [&]() -> task<> { co_await sennit::async_fork_each(5, sleep); };
            const auto quick = [&]() -> task<> {
                for (int k = 0; k < 3; ++k) co_await sennit::async_yield();
            };
            const auto body = [&]() -> task<std::size_t> {
                const auto first = co_await sennit::async_any(forks(), quick());
                co_return first.index();
            };
            EXPECT_EQ(block_on(body()), 1u);
            EXPECT_LE(cut, 5);
        }
    });
}

TEST_P(async_fork, first_child_is_a_part_of_its_parent) {
    const auto body = []() -> task<> {
        const auto mine = sennit::this_fiber::get_id();
        const auto get_id = []() -> task<sennit::fiber::id> {
            co_return sennit::this_fiber::get_id();
        };
        const auto [first, second] = co_await sennit::async_fork_join(get_id, get_id);
        EXPECT_EQ(first, mine);
        EXPECT_NE(second, sennit::fiber::id());
    };
    runtime.run([&] { block_on(body()); });
}

} // namespace
