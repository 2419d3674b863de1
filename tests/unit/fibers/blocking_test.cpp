// SPDX-License-Identifier: Apache-2.0
// Tests sennit::blocking: a call that blocks its thread keeps no worker from working.
#include "sennit/blocking.hpp"

#include "sennit/channel.hpp"
#include "sennit/fiber.hpp"
#include "sennit/fiber_local.hpp"
#include "sennit/mutex.hpp"
#include "sennit/this_fiber.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

TEST(blocking, only_worker_continues_during_blocking_call) {
    sennit::runtime one({.workers = 1});
    std::binary_semaphore released{0};
    one.run([&] {
        sennit::fiber waiting(
            [&] { sennit::blocking([&] { released.acquire(); }); }); // Blocks a thread.
        sennit::fiber releasing([&] { released.release(); });
        waiting.join();
        releasing.join();
    });
}

TEST(blocking, many_blocking_calls_run_at_once) {
    sennit::runtime two({.workers = 2});
    constexpr int calls = 40;
    std::counting_semaphore<> go{0};
    std::atomic<int> inside{0};
    two.run([&] {
        std::vector<sennit::fiber> fibers;
        for (int i = 0; i < calls; ++i)
            fibers.emplace_back([&] {
                sennit::blocking([&] {
                    if (++inside == calls) go.release(calls);
                    go.acquire();
                });
            });
        for (auto& each : fibers) each.join();
    });
    EXPECT_EQ(inside, calls);
}

TEST(blocking, blocking_returns_result_or_rethrows_error) {
    sennit::runtime one({.workers = 1});
    one.run([] {
        EXPECT_EQ(sennit::blocking([] { return 5; }), 5);
        int value = 1;
        int& same = sennit::blocking([&]() -> int& { return value; });
        EXPECT_EQ(&same, &value);
        EXPECT_THROW(sennit::blocking([] { throw std::runtime_error("no"); }), std::runtime_error);
    });
}

TEST(blocking, blocking_call_runs_as_its_fiber_on_another_thread) {
    sennit::runtime one({.workers = 1});
    one.run([] {
        sennit::fiber_local<int> mine([] { return 0; });
        *mine = 9;
        sennit::mutex held;
        const std::lock_guard guard(held);
        const auto me = sennit::this_fiber::get_id();
        const auto thread = std::this_thread::get_id();
        sennit::blocking([&] {
            EXPECT_NE(std::this_thread::get_id(), thread);
            EXPECT_EQ(sennit::this_fiber::get_id(), me);
            EXPECT_EQ(*mine, 9);
            EXPECT_THROW(held.lock(), std::system_error); // The fiber owns the lock.
            sennit::channel<int> one_value(1);            // Library calls block the thread here.
            std::thread other([&] { one_value.push(3); });
            EXPECT_EQ(one_value.pop(), 3);
            other.join();
        });
    });
}

TEST(blocking, blocking_is_plain_call_outside_workers) {
    const auto thread = std::this_thread::get_id();
    EXPECT_TRUE(sennit::blocking([&] { return std::this_thread::get_id() == thread; }));
}

TEST(blocking, runtime_destructor_joins_helper_threads) {
    for (int i = 0; i < 50; ++i) {
        sennit::runtime one({.workers = 1});
        one.run([] {
            for (int k = 0; k < 3; ++k) sennit::blocking([] {});
        });
    }
}

} // namespace
