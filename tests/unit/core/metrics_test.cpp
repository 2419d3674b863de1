// SPDX-License-Identifier: Apache-2.0
// runtime_metrics: the counters that show the cost of a second worker.
#include "core/idle/parker.hpp"
#include "sennit/channel.hpp"
#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/runtime.hpp"
#include "sennit/this_fiber.hpp"
#include "sys/membarrier.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

// Blocks `count` fibers of the runtime at one event at the same time, then lets them end.
void block_at_once(sennit::runtime& runtime, int count) {
    runtime.run([count] {
        sennit::event gate;
        int arrived = 0;
        std::vector<sennit::fiber> all;
        for (int i = 0; i < count; ++i)
            all.emplace_back([&] {
                ++arrived;
                gate.wait();
            });
        while (arrived < count) sennit::this_fiber::yield();
        gate.set();
        for (auto& one : all) one.join();
    });
}

TEST(metrics, stacks_made_is_the_most_stacks_that_were_live) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    block_at_once(runtime, 40);
    const sennit::runtime_metrics many = runtime.metrics();
    EXPECT_GE(many.stacks_made, 41u); // The fiber that opens the gate has a stack of its own.
    for (int i = 0; i < 10; ++i) block_at_once(runtime, 40);
    // The stacks are used again. A global poll may come while all fibers are blocked, and the loop
    // that makes it then has one more.
    EXPECT_LE(runtime.metrics().stacks_made, many.stacks_made + 2);
    block_at_once(runtime, 80);
    EXPECT_GE(runtime.metrics().stacks_made, 81u);
}

TEST(metrics, only_tasks_of_other_threads_count_as_injected) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    // The main thread would run the calls itself.
    std::thread([&runtime] {
        runtime.run([] {});
        const std::uint64_t before = runtime.metrics().tasks_injected;
        for (int i = 0; i < 5; ++i) runtime.run([] {});
        EXPECT_EQ(runtime.metrics().tasks_injected, before + 5);
        runtime.run([] {
            for (int i = 0; i < 100; ++i) sennit::fiber([] { sennit::this_fiber::yield(); }).join();
        });
        EXPECT_EQ(runtime.metrics().tasks_injected, before + 6);
    }).join();
}

// A worker counts a park after it has set its bit in the idle map, so the next task from outside
// wakes it.
TEST(metrics, wakes_counts_wake_up_of_parked_worker) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    for (std::uint64_t parks = 0, round = 0; round < 5; ++round) {
        while (runtime.metrics().parks == parks) std::this_thread::yield();
        parks = runtime.metrics().parks;
        // The main thread would run the call itself.
        std::thread([&runtime] { runtime.run([] {}); }).join();
    }
    EXPECT_GE(runtime.metrics().wakes, 1u);
}

TEST(metrics, wakes_counts_each_notify_of_a_parker) {
    sennit::sched::parker one;
    EXPECT_EQ(one.wakes(), 0u);
    for (unsigned i = 1; i <= 3; ++i) {
        one.announce();
        one.notify();
        one.sleep();
        EXPECT_EQ(one.wakes(), i);
    }
}

TEST(metrics, barriers_counts_each_barrier_that_passed) {
    if (!sennit::sys::barrier_available())
        GTEST_SKIP() << "the kernel has no private expedited barrier";
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    const std::uint64_t before = runtime.metrics().barriers;
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(sennit::sys::barrier_all_threads());
    // Workers may pass barriers of their own meanwhile.
    EXPECT_GE(runtime.metrics().barriers, before + 10);
}

} // namespace
