// SPDX-License-Identifier: Apache-2.0
// Tests the awaits of locks with a limit, of shared locks, of a future's readiness, and of the end
// of a fiber: alone, beside fibers and threads, and in races with their limit.
#include "support.hpp"

#include <sennit/cancelled.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/future.hpp>
#include <sennit/mutex.hpp>
#include <sennit/promise.hpp>
#include <sennit/shared_mutex.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::block_on;
using sennit::future_status;
using sennit::task;

class lock_awaits : public with_workers {};
SENNIT_FOR_WORKERS(lock_awaits);
class join_awaits : public with_workers {};
SENNIT_FOR_WORKERS(join_awaits);
class ready_awaits : public with_workers {};
SENNIT_FOR_WORKERS(ready_awaits);

TEST_P(lock_awaits, timed_mutex_tells_whether_the_task_owns_it) {
    const auto body = []() -> task<> {
        sennit::timed_mutex door;
        const bool first = co_await door.async_try_lock_for(1h);
        EXPECT_TRUE(first);
        const auto other = [&]() -> task<bool> {
            const bool got = co_await door.async_try_lock_for(1ms);
            co_return got;
        };
        EXPECT_FALSE(co_await sennit::spawn(other));
        EXPECT_THROW((void)co_await door.async_try_lock_for(1h), std::system_error);
        door.unlock();
        const auto passed = std::chrono::steady_clock::now();
        const bool again = co_await door.async_try_lock_until(passed);
        EXPECT_TRUE(again);
        door.unlock();
        EXPECT_TRUE(door.try_lock()); // No flag of the waiter is left.
        door.unlock();
    };
    runtime.run([&] { block_on(body()); });
}

// Tasks with a short limit and a fiber fight for one mutex: the lock excludes them, and none is
// lost.
TEST_P(lock_awaits, limits_that_race_with_unlock_lose_no_lock) {
    runtime.run([] {
        sennit::timed_mutex door;
        int inside = 0;
        std::atomic<int> entered{0};
        const auto tries = [&](int seed) -> task<> {
            for (int i = 0; i < 200; ++i) {
                // The last limit is long: each task enters once at least.
                const std::chrono::microseconds limit = i == 199 ? 1h : 1us * ((i * 7 + seed) % 30);
                const bool got = co_await door.async_try_lock_for(limit);
                if (!got) continue;
                EXPECT_EQ(inside++, 0);
                co_await sennit::async_yield();
                --inside;
                ++entered;
                door.unlock();
            }
        };
        std::vector<sennit::future<void>> all;
        for (int i = 0; i < 4; ++i) all.push_back(sennit::spawn(tries, i));
        sennit::fiber beside([&] {
            for (int i = 0; i < 200; ++i) {
                std::lock_guard guard(door);
                EXPECT_EQ(inside++, 0);
                sennit::this_fiber::yield();
                --inside;
            }
        });
        for (auto& each : all) each.get();
        beside.join();
        EXPECT_GE(entered, 4);
        EXPECT_TRUE(door.try_lock());
        door.unlock();
    });
}

TEST_P(lock_awaits, shared_mutex_admits_readers_together_and_writers_alone) {
    runtime.run([] {
        sennit::shared_mutex table;
        std::atomic<int> readers{0}, writers{0}, met{0};
        const auto meets = [&]() -> task<> {
            co_await table.async_lock_shared();
            for (++met; met < 2;) co_await sennit::async_yield();
            table.unlock_shared();
        };
        sennit::future<void> first = sennit::spawn(meets), second = sennit::spawn(meets);
        first.get();
        second.get();
        const auto reads = [&]() -> task<> {
            for (int i = 0; i < 50; ++i) {
                co_await table.async_lock_shared();
                ++readers;
                EXPECT_EQ(writers, 0);
                co_await sennit::async_yield();
                --readers;
                table.unlock_shared();
            }
        };
        const auto writes = [&]() -> task<> {
            for (int i = 0; i < 50; ++i) {
                co_await table.async_lock();
                EXPECT_EQ(++writers, 1);
                EXPECT_EQ(readers, 0);
                co_await sennit::async_yield();
                --writers;
                table.unlock();
            }
        };
        std::vector<sennit::future<void>> all;
        for (int i = 0; i < 4; ++i) all.push_back(sennit::spawn(reads));
        for (int i = 0; i < 2; ++i) all.push_back(sennit::spawn(writes));
        sennit::fiber beside([&] {
            for (int i = 0; i < 50; ++i) {
                std::unique_lock guard(table);
                EXPECT_EQ(++writers, 1);
                sennit::this_fiber::yield();
                --writers;
            }
        });
        for (auto& each : all) each.get();
        beside.join();
    });
}

TEST_P(lock_awaits, shared_timed_mutex_keeps_limits_and_lets_readers_pass_a_writer_that_gave_up) {
    const auto body = []() -> task<> {
        sennit::shared_timed_mutex table;
        const bool writer = co_await table.async_try_lock_for(1h);
        EXPECT_TRUE(writer);
        EXPECT_THROW((void)co_await table.async_lock(), std::system_error);
        const auto later = [&]() -> task<bool> {
            const bool got =
                co_await table.async_try_lock_shared_until(std::chrono::steady_clock::now() + 1ms);
            co_return got;
        };
        EXPECT_FALSE(co_await sennit::spawn(later));
        table.unlock();
        const bool reader = co_await table.async_try_lock_shared_for(1h);
        EXPECT_TRUE(reader);
        // A writer waits, and a reader behind it. When the writer gives up, the reader enters.
        const auto writes = [&]() -> task<bool> {
            const bool got = co_await table.async_try_lock_for(20ms);
            co_return got;
        };
        sennit::future<bool> waits = sennit::spawn(writes);
        while (table.try_lock_shared()) { // Refused as soon as the writer waits.
            table.unlock_shared();
            co_await sennit::async_yield();
        }
        const auto reads = [&]() -> task<bool> {
            co_await table.async_lock_shared();
            table.unlock_shared();
            co_return true;
        };
        sennit::future<bool> behind = sennit::spawn(reads);
        EXPECT_TRUE(co_await std::move(behind));
        EXPECT_FALSE(co_await std::move(waits));
        table.unlock_shared();
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(join_awaits, task_receives_result_and_exception_of_fiber) {
    const auto body = []() -> task<> {
        sennit::fiber gives([] { return std::make_unique<int>(42); });
        const auto got = co_await gives.async_join<std::unique_ptr<int>>();
        EXPECT_EQ(*got, 42);
        EXPECT_FALSE(gives.joinable());
        sennit::fiber fails([] { throw std::runtime_error("no"); });
        EXPECT_THROW(co_await fails.async_join(), std::runtime_error);
        EXPECT_FALSE(fails.joinable());
        EXPECT_THROW((void)fails.async_join(), std::system_error);
        sennit::fiber other([] { return 1; });
        EXPECT_THROW((void)other.async_join<double>(), std::bad_cast);
        EXPECT_TRUE(other.joinable());
        co_await other.async_join();
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(join_awaits, many_tasks_join_fibers_that_wait) {
    runtime.run([] {
        sennit::event gate;
        std::vector<sennit::future<int>> all;
        for (int i = 0; i < 100; ++i)
            all.push_back(sennit::spawn([&gate, i]() -> task<int> {
                sennit::fiber one([&gate, i] {
                    gate.wait();
                    return i;
                });
                const int got = co_await one.async_join<int>();
                co_return got;
            }));
        sennit::this_fiber::yield();
        gate.set();
        for (int i = 0; i < 100; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i);
    });
}

TEST_P(join_awaits, fiber_stays_joinable_after_a_limit) {
    const auto body = []() -> task<> {
        sennit::event gate;
        sennit::fiber one([&gate] { gate.wait(); });
        const bool soon = co_await one.async_join_for(1ms);
        EXPECT_FALSE(soon);
        EXPECT_TRUE(one.joinable());
        const bool now = co_await one.async_join_until(std::chrono::steady_clock::now());
        EXPECT_FALSE(now);
        gate.set();
        const bool ended = co_await one.async_join_for(1h);
        EXPECT_TRUE(ended);
        EXPECT_FALSE(one.joinable());
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(join_awaits, limit_that_races_with_the_end_tells_the_truth) {
    const auto body = []() -> task<> {
        for (int i = 0; i < 300; ++i) {
            std::atomic<bool> left = false;
            sennit::fiber one([&] {
                for (int k = 0; k < i % 20; ++k) sennit::this_fiber::yield();
                left = true;
            });
            const bool ended = co_await one.async_join_for(std::chrono::microseconds(i % 10));
            if (ended) {
                EXPECT_TRUE(left);
            } else {
                co_await one.async_join();
            }
            EXPECT_FALSE(one.joinable());
        }
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(ready_awaits, future_stays_valid_after_a_wait_for_readiness) {
    const auto body = []() -> task<> {
        sennit::promise<int> source;
        sennit::future<int> value = source.get_future();
        const future_status early = co_await value.async_wait_for(1ms);
        EXPECT_EQ(early, future_status::timeout);
        const future_status now = co_await value.async_wait_until(std::chrono::steady_clock::now());
        EXPECT_EQ(now, future_status::timeout);
        std::thread other([&] { source.set_value(7); });
        co_await value.async_wait();
        EXPECT_TRUE(value.valid());
        const future_status late = co_await value.async_wait_for(0s);
        EXPECT_EQ(late, future_status::ready);
        EXPECT_EQ(co_await std::move(value), 7);
        other.join();
        EXPECT_THROW((void)value.async_wait(), sennit::future_error);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(ready_awaits, several_tasks_wait_for_one_shared_future) {
    runtime.run([] {
        sennit::promise<int> source;
        const sennit::shared_future<int> value = source.get_future().share();
        std::vector<sennit::future<future_status>> all;
        for (int i = 0; i < 10; ++i)
            all.push_back(sennit::spawn([&value]() -> task<future_status> {
                const future_status how = co_await value.async_wait_for(1h);
                co_return how;
            }));
        sennit::this_fiber::yield();
        source.set_value(1);
        for (auto& each : all) EXPECT_EQ(each.get(), future_status::ready);
    });
}

TEST_P(ready_awaits, cancelled_scope_ends_the_wait_and_keeps_the_future) {
    runtime.run([] {
        sennit::promise<int> source;
        sennit::future<int> value = source.get_future();
        std::atomic<bool> cancelled = false;
        sennit::nursery children;
        sennit::event begun;
        children.start([&]() -> task<> {
            begun.set();
            try {
                co_await value.async_wait();
            } catch (const sennit::cancelled&) {
                cancelled = true;
            }
        });
        begun.wait();
        children.cancel();
        try {
            children.join();
        } catch (const sennit::cancelled&) {
        }
        EXPECT_TRUE(cancelled);
        source.set_value(3);
        EXPECT_EQ(value.get(), 3);
    });
}

} // namespace
