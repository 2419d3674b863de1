// SPDX-License-Identifier: Apache-2.0
// Each awaitable member of a synchronization object or channel, with a task, a fiber or a thread as
// the waiter, and with each of them as the code that ends the wait.
#include "support.hpp"

#include <sennit/barrier.hpp>
#include <sennit/channel.hpp>
#include <sennit/condition_variable.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/latch.hpp>
#include <sennit/mutex.hpp>
#include <sennit/nursery.hpp>
#include <sennit/promise.hpp>
#include <sennit/semaphore.hpp>

#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using sennit::task;

enum class kind { task, fiber, thread };

// Runs a part of a test as one kind of code: the awaiting form in a task, the blocking form
// elsewhere.
class part {
public:
    part(sennit::runtime& where, kind as, std::function<task<>()> awaiting,
         std::function<void()> blocking) {
        if (as == kind::thread) {
            thread_ = std::thread(std::move(blocking));
        } else if (as == kind::fiber) {
            fiber_ = sennit::fiber({.runtime = &where}, std::move(blocking));
        } else {
            // block_on in a fiber of this runtime: the task suspends there.
            fiber_ = sennit::fiber({.runtime = &where}, [run = std::move(awaiting)] {
                sennit::spawn([run]() -> task<> { co_await run(); }).get();
            });
        }
    }
    void join() {
        if (thread_.joinable())
            thread_.join();
        else
            fiber_.join();
    }

private:
    std::thread thread_;
    sennit::fiber fiber_;
};

class async_objects : public testing::TestWithParam<std::tuple<kind, kind>> {
protected:
    sennit::runtime runtime{{.workers = 2}};

    part waiter(std::function<task<>()> awaiting, std::function<void()> blocking) {
        return part(runtime, std::get<0>(GetParam()), std::move(awaiting), std::move(blocking));
    }
    part waker(std::function<void()> action) {
        return part(
            runtime, std::get<1>(GetParam()),
            [action]() -> task<> {
                action();
                co_return;
            },
            action);
    }
};
std::string name_of(kind which) {
    return which == kind::task ? "task" : which == kind::fiber ? "fiber" : "thread";
}
INSTANTIATE_TEST_SUITE_P(pairs, async_objects,
                         testing::Combine(testing::Values(kind::task, kind::fiber, kind::thread),
                                          testing::Values(kind::task, kind::fiber, kind::thread)),
                         [](const auto& test) {
                             return name_of(std::get<0>(test.param)) + "_woken_by_" +
                                    name_of(std::get<1>(test.param));
                         });

constexpr int rounds = 200;

TEST_P(async_objects, event_lets_one_waiter_through_for_each_set) {
    sennit::event there(sennit::event::mode::auto_reset), back(sennit::event::mode::auto_reset);
    part a = waiter(
        [&]() -> task<> {
            for (int i = 0; i < rounds; ++i) {
                co_await there.async_wait();
                back.set();
            }
        },
        [&] {
            for (int i = 0; i < rounds; ++i) {
                there.wait();
                back.set();
            }
        });
    part b = waker([&] {
        for (int i = 0; i < rounds; ++i) {
            there.set();
            back.wait();
        }
    });
    a.join();
    b.join();
    EXPECT_FALSE(there.try_wait());
}

TEST_P(async_objects, semaphore_gives_each_token_once) {
    sennit::counting_semaphore<> tokens(0);
    part a = waiter(
        [&]() -> task<> {
            for (int i = 0; i < rounds; ++i) co_await tokens.async_acquire();
        },
        [&] {
            for (int i = 0; i < rounds; ++i) tokens.acquire();
        });
    part b = waker([&] {
        for (int i = 0; i < rounds; ++i) tokens.release();
    });
    a.join();
    b.join();
    EXPECT_FALSE(tokens.try_acquire());
}

TEST_P(async_objects, latch_and_barrier_let_all_through) {
    sennit::latch open(2);
    sennit::barrier<> phase(2);
    std::atomic<int> at{0};
    part a = waiter(
        [&]() -> task<> {
            co_await open.async_arrive_and_wait();
            for (int i = 0; i < rounds; ++i) {
                ++at;
                co_await phase.async_arrive_and_wait();
                EXPECT_GE(at, 2 * (i + 1));
                co_await phase.async_arrive_and_wait();
            }
        },
        [&] {
            open.arrive_and_wait();
            for (int i = 0; i < rounds; ++i) {
                ++at;
                phase.arrive_and_wait();
                EXPECT_GE(at, 2 * (i + 1));
                phase.arrive_and_wait();
            }
        });
    part b = waker([&] {
        open.arrive_and_wait();
        for (int i = 0; i < rounds; ++i) {
            ++at;
            phase.arrive_and_wait();
            EXPECT_GE(at, 2 * (i + 1));
            phase.arrive_and_wait();
        }
    });
    a.join();
    b.join();
    EXPECT_EQ(at, 2 * rounds);
}

TEST_P(async_objects, mutex_excludes) {
    sennit::mutex guard;
    int count = 0; // guarded by the mutex
    part a = waiter(
        [&]() -> task<> {
            for (int i = 0; i < rounds; ++i) {
                std::unique_lock<sennit::mutex> held = co_await guard.async_scoped_lock();
                const int before = count;
                co_await sennit::async_yield();
                count = before + 1;
            }
        },
        [&] {
            for (int i = 0; i < rounds; ++i) {
                std::scoped_lock held(guard);
                const int before = count;
                sennit::this_fiber::yield();
                count = before + 1;
            }
        });
    part b = waker([&] {
        for (int i = 0; i < rounds; ++i) {
            std::scoped_lock held(guard);
            const int before = count;
            sennit::this_fiber::yield();
            count = before + 1;
        }
    });
    a.join();
    b.join();
    EXPECT_EQ(count, 2 * rounds);
}

TEST_P(async_objects, condition_variable_wakes_waiter_with_mutex_held) {
    sennit::mutex guard;
    sennit::condition_variable changed;
    int turn = 0; // guarded by the mutex
    part a = waiter(
        [&]() -> task<> {
            for (int i = 0; i < rounds; ++i) {
                std::unique_lock<sennit::mutex> held = co_await guard.async_scoped_lock();
                co_await changed.async_wait(held, [&] { return turn % 2 == 1; });
                EXPECT_TRUE(held.owns_lock());
                ++turn;
                changed.notify_all();
            }
        },
        [&] {
            for (int i = 0; i < rounds; ++i) {
                std::unique_lock held(guard);
                changed.wait(held, [&] { return turn % 2 == 1; });
                ++turn;
                changed.notify_all();
            }
        });
    part b = waker([&] {
        for (int i = 0; i < rounds; ++i) {
            std::unique_lock held(guard);
            changed.wait(held, [&] { return turn % 2 == 0; });
            ++turn;
            changed.notify_all();
        }
    });
    a.join();
    b.join();
    EXPECT_EQ(turn, 2 * rounds);
}

TEST_P(async_objects, channel_passes_values_in_order_until_closed) {
    for (const std::size_t capacity : {std::size_t{0}, std::size_t{3}}) {
        sennit::channel<std::string> values(capacity);
        std::vector<std::string> seen;
        part a = waiter(
            [&]() -> task<> {
                for (;;) {
                    std::optional<std::string> one = co_await values.async_pop();
                    if (!one) co_return;
                    seen.push_back(*std::move(one));
                }
            },
            [&] {
                for (std::string& one : values) seen.push_back(one);
            });
        part b = waker([&] {
            for (int i = 0; i < rounds; ++i)
                EXPECT_EQ(values.push(std::to_string(i)), sennit::channel_status::success);
            values.close();
        });
        a.join();
        b.join();
        ASSERT_EQ(seen.size(), static_cast<std::size_t>(rounds));
        for (int i = 0; i < rounds; ++i)
            EXPECT_EQ(seen[static_cast<std::size_t>(i)], std::to_string(i));
    }
}

TEST_P(async_objects, channel_takes_values_from_task_until_closed) {
    sennit::channel<std::string> values;
    int pushed = 0;
    part a = waiter(
        [&]() -> task<> {
            for (;;) {
                const sennit::channel_status how = co_await values.async_push("value");
                if (how == sennit::channel_status::closed) co_return;
                ++pushed;
            }
        },
        [&] {
            while (values.push("value") == sennit::channel_status::success) ++pushed;
        });
    part b = waker([&] {
        for (int i = 0; i < rounds; ++i) EXPECT_EQ(values.pop(), "value");
        values.close();
    });
    a.join();
    b.join();
    EXPECT_EQ(pushed, rounds);
}

class async_objects_alone : public with_workers {};
SENNIT_FOR_WORKERS(async_objects_alone);

TEST_P(async_objects_alone, ready_object_lets_task_continue_at_once) {
    runtime.run([] {
        const auto body = []() -> task<> {
            sennit::event set(sennit::event::mode::manual_reset, true);
            co_await set.async_wait();
            sennit::counting_semaphore<> token(1);
            co_await token.async_acquire();
            EXPECT_FALSE(token.try_acquire());
            sennit::latch open(0);
            co_await open.async_wait();
            sennit::channel<int> values(1);
            EXPECT_EQ(co_await values.async_push(1), sennit::channel_status::success);
            EXPECT_EQ(co_await values.async_pop(), 1);
            values.close();
            EXPECT_EQ(co_await values.async_push(1), sennit::channel_status::closed);
            EXPECT_EQ(co_await values.async_pop(), std::nullopt);
            sennit::channel<int> failed;
            failed.close(std::make_exception_ptr(std::runtime_error("source")));
            EXPECT_THROW(co_await failed.async_pop(), std::runtime_error);
            sennit::mutex guard;
            co_await guard.async_lock();
            EXPECT_THROW(co_await guard.async_lock(), std::system_error);
            guard.unlock();
            sennit::condition_variable changed;
            std::unique_lock<sennit::mutex> none;
            EXPECT_THROW(co_await changed.async_wait(none), std::system_error);
        };
        sennit::block_on(body());
    });
}

// P: a cancelled scope ends each wait of a task; the object is as before, and can be destroyed.
TEST_P(async_objects_alone, cancelled_scope_ends_every_wait_but_that_for_a_lock) {
    runtime.run([] {
        sennit::event never_set;
        sennit::counting_semaphore<> no_tokens(0);
        sennit::latch closed(1);
        sennit::barrier<> lonely(2);
        sennit::channel<int> empty, full;
        sennit::mutex guard, other;
        sennit::condition_variable quiet;
        sennit::promise<int> silent;
        sennit::shared_future<int> unready = silent.get_future().share();
        const auto in_scope = [](std::function<task<>()> body) {
            sennit::latch started(1);
            std::atomic<bool> cut{false};
            sennit::nursery children;
            children.start([&] {
                started.count_down();
                try {
                    sennit::block_on(body());
                } catch (const sennit::cancelled&) {
                    cut = true;
                    throw;
                }
            });
            started.wait();
            children.cancel();
            children.join();
            EXPECT_TRUE(cut);
        };
        in_scope([&]() -> task<> { co_await never_set.async_wait(); });
        in_scope([&]() -> task<> { co_await no_tokens.async_acquire(); });
        in_scope([&]() -> task<> { co_await closed.async_wait(); });
        in_scope([&]() -> task<> { co_await lonely.async_arrive_and_wait(); });
        in_scope([&]() -> task<> { co_await empty.async_pop(); });
        in_scope([&]() -> task<> { co_await full.async_push(1); });
        in_scope([&]() -> task<> { co_await unready; });
        in_scope([&]() -> task<> { co_await sennit::async_sleep_for(std::chrono::hours(1)); });
        in_scope([&]() -> task<> {
            std::unique_lock<sennit::mutex> held = co_await guard.async_scoped_lock();
            co_await quiet.async_wait(held);
        });
        EXPECT_TRUE(guard.try_lock()); // The wait took the mutex again, and its guard released it.
        guard.unlock();
        // The lock: its holder releases it only after the cancel.
        other.lock();
        sennit::event waits;
        sennit::nursery children;
        bool owned = false;
        children.start([&] {
            const auto body = [&]() -> task<> {
                waits.set();
                co_await other.async_lock();
                owned = true;
                other.unlock();
            };
            sennit::block_on(body());
        });
        waits.wait();
        children.cancel();
        other.unlock();
        children.join();
        EXPECT_TRUE(owned);
        silent.set_value(1);
    });
}

TEST_P(async_objects_alone, with_timeout_ends_task_and_leaves_no_waiter) {
    using namespace std::chrono_literals;
    runtime.run([] {
        sennit::channel<int> empty;
        const auto pop = [](sennit::channel<int>& from) -> task<int> {
            const std::optional<int> one = co_await from.async_pop();
            co_return one.value_or(-1);
        };
        for (int i = 0; i < 20; ++i)
            EXPECT_THROW(sennit::block_on(sennit::with_timeout(100us, pop(empty))),
                         sennit::timed_out);
        sennit::fiber late([&] { empty.push(4); });
        EXPECT_EQ(sennit::block_on(sennit::with_timeout(1h, pop(empty))), 4);
        late.join();
        EXPECT_THROW(sennit::block_on(
                         sennit::with_deadline(std::chrono::steady_clock::now() - 1s, pop(empty))),
                     sennit::timed_out);
    });
}

} // namespace
