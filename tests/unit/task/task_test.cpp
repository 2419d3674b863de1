// SPDX-License-Identifier: Apache-2.0
// task and block_on: results, exceptions, lifetimes, depth, identity.
#include "slow_tests.hpp"
#include "support.hpp"

#include <sennit/fiber_local.hpp>
#include <sennit/fork_join.hpp>
#include <sennit/mutex.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using sennit::block_on;
using sennit::task;

static_assert(!std::is_copy_constructible_v<task<int>> &&
              std::is_nothrow_move_constructible_v<task<int>>);

class tasks : public with_workers {};
SENNIT_FOR_WORKERS(tasks);

task<int> answer() {
    co_return 42;
}
task<int> sum_of(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += co_await answer();
    co_return sum;
}

TEST_P(tasks, task_returns_value_reference_void_and_move_only_value) {
    runtime.run([] {
        EXPECT_EQ(block_on(answer()), 42);
        int there = 1;
        const auto refer = [](int& x) -> task<int&> { co_return x; };
        EXPECT_EQ(&block_on(refer(there)), &there);
        bool ran = false;
        const auto mark = [](bool& flag) -> task<> {
            flag = true;
            co_return;
        };
        block_on(mark(ran));
        EXPECT_TRUE(ran);
        const auto make = []() -> task<std::unique_ptr<int>> {
            co_return std::make_unique<int>(7);
        };
        const auto pass = [](auto inner) -> task<std::unique_ptr<int>> {
            co_return co_await std::move(inner);
        };
        EXPECT_EQ(*block_on(pass(make())), 7);
    });
}

TEST_P(tasks, await_throws_exception_of_task_and_return_value_may_throw) {
    runtime.run([] {
        const auto fail = []() -> task<int> {
            throw std::runtime_error("inner");
            co_return 1;
        };
        const auto outer = [](auto inner) -> task<std::string> {
            try {
                co_await std::move(inner);
            } catch (const std::runtime_error& error) {
                co_return error.what();
            }
            co_return "nothing";
        };
        EXPECT_EQ(block_on(outer(fail())), "inner");
        EXPECT_THROW(block_on(fail()), std::runtime_error);
        struct refuses {
            refuses() = default;
            explicit refuses(int) { throw std::logic_error("no copy"); }
        };
        const auto convert = []() -> task<refuses> { co_return 5; };
        EXPECT_THROW(block_on(convert()), std::logic_error);
    });
}

TEST_P(tasks, task_is_lazy_and_is_destroyed_unstarted) {
    runtime.run([] {
        bool ran = false;
        const auto body = [](bool& flag, counted) -> task<> {
            flag = true;
            co_return;
        };
        {
            task<> dropped = body(ran, counted(1));
            EXPECT_TRUE(dropped.valid());
            EXPECT_EQ(counted::alive(), 1);
            task<> moved = std::move(dropped);
            EXPECT_FALSE(dropped.valid()); // NOLINT: says what a move leaves behind
            moved = body(ran, counted(2)); // destroys the first coroutine
            EXPECT_EQ(counted::alive(), 1);
        }
        EXPECT_FALSE(ran);
        EXPECT_EQ(counted::alive(), 0);
        EXPECT_FALSE(task<int>().valid());
    });
}

// P: the locals and parameters of a task end before its caller continues.
TEST_P(tasks, locals_end_before_caller_continues) {
    runtime.run([] {
        const auto inner = [](counted) -> task<int> {
            counted local(3);
            co_return local.value;
        };
        const auto outer = [](auto make) -> task<int> {
            const int got = co_await make(counted(1));
            // The argument is a temporary of the full expression above.
            EXPECT_EQ(counted::alive(), 0);
            co_return got;
        };
        EXPECT_EQ(block_on(outer(inner)), 3);
    });
}

task<int> nested(int depth) {
    if (depth == 0) co_return 0;
    const int below = co_await nested(depth - 1);
    co_return below + 1;
}
task<int> nested_throw(int depth) {
    if (depth == 0) throw std::runtime_error("deepest");
    const int below = co_await nested_throw(depth - 1);
    co_return below + 1;
}
task<int> nested_yield(int depth) {
    if (depth == 0) {
        co_await sennit::async_yield();
        co_return 0;
    }
    const int below = co_await nested_yield(depth - 1);
    co_return below + 1;
}

TEST_P(tasks, awaits_need_no_stack_at_any_depth) {
    runtime.run([] {
        constexpr int many = large(3'000'000);
        constexpr int deep = large(300'000);
        EXPECT_EQ(block_on(sum_of(many)), 42 * many);
        EXPECT_EQ(block_on(nested(deep)), deep);
        EXPECT_EQ(block_on(nested_yield(deep)), deep);
        EXPECT_THROW(block_on(nested_throw(1'000)), std::runtime_error);
    });
}

TEST_P(tasks, block_on_runs_task_from_thread_fiber_child_and_task) {
    EXPECT_EQ(block_on(sum_of(10)), 420); // a thread: the default runtime
    std::thread([] { EXPECT_EQ(block_on(sum_of(10)), 420); }).join();
    runtime.run([] {
        sennit::fiber([] { EXPECT_EQ(block_on(nested_yield(10)), 10); }).join();
        int left = 0, right = 0;
        sennit::fork_join([&] { left = block_on(nested_yield(10)); },
                          [&] { right = block_on(sum_of(10)); });
        EXPECT_EQ(left, 10);
        EXPECT_EQ(right, 420);
        const auto inside = []() -> task<int> {
            const int blocked = block_on(nested_yield(10)); // legal: it takes a stack
            co_return blocked + co_await nested(5);
        };
        EXPECT_EQ(block_on(inside()), 15);
    });
}

// A blocking call in a task leaves the depth measurement with the word of another stack.
TEST_P(tasks, deep_await_after_blocking_call_needs_no_stack) {
    runtime.run([] {
        const auto body = []() -> task<int> {
            for (int i = 0; i < 20; ++i) {
                sennit::future<int> other = sennit::async([] {
                    sennit::this_fiber::yield();
                    return 1;
                });
                EXPECT_EQ(other.get(), 1);
                EXPECT_EQ(block_on(nested(10'000)), 10'000);
                const int deep = co_await nested(10'000);
                EXPECT_EQ(deep, 10'000);
            }
            co_return 0;
        };
        std::vector<sennit::future<int>> all;
        for (int i = 0; i < 4; ++i) all.push_back(sennit::spawn(body));
        for (sennit::future<int>& one : all) EXPECT_EQ(one.get(), 0);
    });
}

TEST_P(tasks, block_on_lends_callers_identity_to_task) {
    runtime.run([] {
        sennit::mutex guard;
        sennit::fiber_local<int> local;
        sennit::fiber([&] {
            guard.lock();
            *local = 5;
            const auto body = [](sennit::mutex& held, sennit::fiber_local<int>& mine) -> task<int> {
                co_await sennit::async_yield();
                EXPECT_THROW(held.lock(), std::system_error); // its own lock
                held.unlock();
                co_return *mine;
            };
            EXPECT_EQ(block_on(body(guard, local)), 5);
            EXPECT_TRUE(guard.try_lock());
            guard.unlock();
        }).join();
    });
}

TEST_P(tasks, awaited_task_has_identity_of_caller_and_spawned_task_its_own) {
    runtime.run([] {
        sennit::mutex guard;
        const auto unlock = [](sennit::mutex& held) -> task<> {
            held.unlock();
            co_return;
        };
        const auto body = [&]() -> task<> {
            co_await guard.async_lock();
            co_await unlock(guard);
            co_await guard.async_lock();
            sennit::future<void> other = sennit::spawn(unlock, std::ref(guard));
            EXPECT_THROW(co_await std::move(other), std::system_error);
            guard.unlock();
        };
        block_on(body());
    });
}

} // namespace
