// SPDX-License-Identifier: Apache-2.0
// Tests the awaits of recursive mutexes and of async_call_once: alone, and with threads, fibers and
// tasks at one object, in each pairing of the strand that holds it with the strand that waits.
#include "strand_kinds.hpp"
#include "support.hpp"

#include <sennit/cancelled.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/future.hpp>
#include <sennit/mutex.hpp>
#include <sennit/nursery.hpp>
#include <sennit/once.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::block_on;
using sennit::task;

class recursive_awaits : public with_workers {};
SENNIT_FOR_WORKERS(recursive_awaits);
class once_awaits : public with_workers {};
SENNIT_FOR_WORKERS(once_awaits);

TEST_P(recursive_awaits, task_adds_levels_also_through_the_tasks_that_it_awaits) {
    sennit::recursive_mutex door;
    const std::function<task<>(int)> descend = [&](int levels) -> task<> {
        co_await door.async_lock();
        co_await sennit::async_yield(); // Perhaps on another worker.
        if (levels > 1) co_await descend(levels - 1);
        door.unlock();
    };
    const auto other_may_lock = [&]() -> task<bool> {
        const bool got = door.try_lock();
        if (got) door.unlock();
        co_return got;
    };
    const auto body = [&]() -> task<> {
        auto held = co_await door.async_scoped_lock();
        EXPECT_TRUE(held.owns_lock());
        co_await descend(5);
        const bool free_inside = co_await sennit::spawn(other_may_lock);
        EXPECT_FALSE(free_inside);
        held.unlock();
        const bool free_outside = co_await sennit::spawn(other_may_lock);
        EXPECT_TRUE(free_outside);
        EXPECT_THROW(door.unlock(), std::system_error);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(recursive_awaits, block_on_keeps_the_levels_of_the_fiber) {
    runtime.run([] {
        sennit::recursive_mutex door;
        std::unique_lock held(door);
        const auto body = [&]() -> task<> {
            co_await door.async_lock();
            co_await sennit::async_yield();
            door.unlock();
        };
        block_on(body());
        EXPECT_TRUE(held.owns_lock());
    });
}

TEST_P(recursive_awaits, timed_form_tells_whether_the_task_owns_a_further_level) {
    sennit::recursive_timed_mutex door;
    const auto other = [&]() -> task<bool> {
        const bool got = co_await door.async_try_lock_for(1ms);
        if (got) door.unlock();
        co_return got;
    };
    const auto body = [&]() -> task<> {
        const bool first = co_await door.async_try_lock_for(1h);
        const auto passed = std::chrono::steady_clock::now();
        const bool second = co_await door.async_try_lock_until(passed);
        EXPECT_TRUE(first && second);
        const bool while_held_twice = co_await sennit::spawn(other);
        EXPECT_FALSE(while_held_twice);
        door.unlock();
        const bool while_held_once = co_await sennit::spawn(other);
        EXPECT_FALSE(while_held_once);
        door.unlock();
        const bool when_free = co_await sennit::spawn(other);
        EXPECT_TRUE(when_free);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(recursive_awaits, each_kind_of_strand_waits_for_each_kind) {
    runtime.run([] {
        for (const strand_kind holds : all_kinds)
            for (const strand_kind waits : all_kinds) {
                sennit::recursive_mutex door;
                sennit::event is_held, may_leave;
                int inside = 0;
                const auto use = [&] {
                    EXPECT_EQ(inside++, 0);
                    --inside;
                };
                const auto end_holder = start_as(
                    holds,
                    [&] {
                        std::scoped_lock outer(door);
                        std::scoped_lock inner(door);
                        ++inside;
                        is_held.set();
                        may_leave.wait();
                        --inside;
                    },
                    [&]() -> task<> {
                        auto outer = co_await door.async_scoped_lock();
                        auto inner = co_await door.async_scoped_lock();
                        ++inside;
                        is_held.set();
                        co_await may_leave.async_wait();
                        --inside;
                    });
                is_held.wait();
                const auto end_waiter = start_as(
                    waits,
                    [&] {
                        std::scoped_lock guard(door);
                        use();
                    },
                    [&]() -> task<> {
                        auto guard = co_await door.async_scoped_lock();
                        use();
                    });
                EXPECT_FALSE(door.try_lock());
                may_leave.set();
                end_holder();
                end_waiter();
                EXPECT_TRUE(door.try_lock());
                door.unlock();
            }
    });
}

TEST_P(recursive_awaits, tasks_and_fibers_exclude_each_other) {
    runtime.run([] {
        sennit::recursive_mutex door;
        int inside = 0, entered = 0;
        const auto fights = [&]() -> task<> {
            for (int i = 0; i < 100; ++i) {
                auto outer = co_await door.async_scoped_lock();
                EXPECT_EQ(inside++, 0);
                auto inner = co_await door.async_scoped_lock();
                co_await sennit::async_yield();
                ++entered;
                --inside;
            }
        };
        std::vector<sennit::future<void>> all;
        for (int i = 0; i < 4; ++i) all.push_back(sennit::spawn(fights));
        sennit::fiber beside([&] {
            for (int i = 0; i < 100; ++i) {
                std::scoped_lock guard(door);
                EXPECT_EQ(inside++, 0);
                sennit::this_fiber::yield();
                ++entered;
                --inside;
            }
        });
        for (auto& each : all) each.get();
        beside.join();
        EXPECT_EQ(entered, 500);
    });
}

TEST_P(once_awaits, function_or_task_is_called_once_with_moved_arguments) {
    sennit::once_flag plain, waiting;
    int seen = 0, calls = 0;
    const auto body = [&]() -> task<> {
        const auto keep = [&seen](std::unique_ptr<int> mine) { seen = *mine; };
        co_await sennit::async_call_once(plain, keep, std::make_unique<int>(4));
        const auto count = [&calls]() -> task<> {
            co_await sennit::async_yield();
            ++calls;
        };
        for (int i = 0; i < 3; ++i) co_await sennit::async_call_once(waiting, count);
    };
    runtime.run([&] { block_on(body()); });
    EXPECT_EQ(seen, 4);
    EXPECT_EQ(calls, 1);
    sennit::call_once(waiting, [] { ADD_FAILURE() << "the flag is done"; });
}

TEST_P(once_awaits, each_kind_of_strand_waits_for_each_kind) {
    runtime.run([] {
        for (const strand_kind calls : all_kinds)
            for (const strand_kind waits : all_kinds) {
                sennit::once_flag flag;
                sennit::event is_called, may_end;
                bool ended = false;
                const auto end_caller = start_as(
                    calls,
                    [&] {
                        sennit::call_once(flag, [&] {
                            is_called.set();
                            may_end.wait();
                            ended = true;
                        });
                    },
                    [&]() -> task<> {
                        const auto call = [&]() -> task<> {
                            is_called.set();
                            co_await may_end.async_wait();
                            ended = true;
                        };
                        co_await sennit::async_call_once(flag, call);
                    });
                is_called.wait();
                const auto never = [] { ADD_FAILURE() << "the flag is done"; };
                const auto end_waiter = start_as(
                    waits,
                    [&] {
                        sennit::call_once(flag, never);
                        EXPECT_TRUE(ended);
                    },
                    [&]() -> task<> {
                        co_await sennit::async_call_once(flag, never);
                        EXPECT_TRUE(ended);
                    });
                sennit::this_fiber::yield();
                may_end.set();
                end_caller();
                end_waiter();
            }
    });
}

TEST_P(once_awaits, throwing_call_does_not_count) {
    runtime.run([] {
        for (int round = 0; round < 50; ++round) {
            sennit::once_flag flag;
            int calls = 0; // The calls run one at a time.
            std::atomic<int> thrown{0};
            bool done = false;
            const auto call = [&]() -> task<> {
                co_await sennit::async_yield();
                if (++calls <= 3) throw std::runtime_error("x");
                done = true;
            };
            const auto tries = [&]() -> task<> {
                try {
                    co_await sennit::async_call_once(flag, call);
                    EXPECT_TRUE(done);
                } catch (const std::runtime_error&) {
                    ++thrown;
                }
            };
            std::vector<sennit::future<void>> all;
            for (int i = 0; i < 6; ++i) all.push_back(sennit::spawn(tries));
            for (auto& each : all) each.get();
            EXPECT_EQ(thrown, 3);
            EXPECT_EQ(calls, 4);
        }
    });
}

// The wait for another call is no point of cancellation, as in call_once.
TEST_P(once_awaits, cancelled_call_does_not_count_and_waits_are_not_cancelled) {
    runtime.run([] {
        sennit::once_flag flag;
        sennit::event called, never;
        bool second_done = false;
        sennit::nursery first, second;
        first.start([&]() -> task<> {
            const auto call = [&]() -> task<> {
                called.set();
                co_await never.async_wait();
            };
            co_await sennit::async_call_once(flag, call);
        });
        called.wait();
        sennit::event waits;
        second.start([&]() -> task<> {
            waits.set();
            co_await sennit::async_call_once(flag, [&] { second_done = true; });
        });
        waits.wait();
        second.cancel();
        first.cancel();
        first.join();
        second.join();
        EXPECT_TRUE(second_done);
    });
}

} // namespace
