// SPDX-License-Identifier: Apache-2.0
// Publication by force: one barrier serves several owners, and an owner that was forced publishes
// its next forks without a request. The tests count barriers and forced publications.
#include "sennit/fiber.hpp"
#include "sennit/fork_join.hpp"
#include "sennit/runtime.hpp"
#include "sys/membarrier.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <vector>

namespace {

void wait_for(const std::atomic<int>& count, int value) {
    for (int seen = count.load(); seen < value; seen = count.load()) count.wait(seen);
}
void add_one(std::atomic<int>& count) {
    ++count;
    count.notify_all();
}

// Seven workers compute beside one private fork each, while the eighth has work, too. Then that
// worker becomes a thief.
TEST(forced_publication, one_barrier_serves_seven_owners) {
    if (!sennit::sys::barrier_available())
        GTEST_SKIP() << "the kernel has no private expedited barrier";
    constexpr int owners = 7;
    sennit::runtime runtime({.workers = owners + 1, .max_spare_workers = 0});
    std::latch all_begun(owners + 1);
    std::atomic<int> pushed{0}, taken{0}, seen{0};
    sennit::runtime_metrics before, after;
    runtime.run([&] {
        std::vector<sennit::fiber> fibers;
        for (int i = 0; i < owners; ++i)
            fibers.emplace_back([&] {
                all_begun.arrive_and_wait();     // No worker searches, so no further request comes.
                sennit::fork_join([] {}, [] {}); // Answers the requests that have come.
                sennit::fork_join(
                    [&] {
                        add_one(pushed);
                        wait_for(taken, owners);
                        if (++seen == 1) after = runtime.metrics();
                    },
                    [&] { add_one(taken); });
            });
        all_begun.arrive_and_wait();
        wait_for(pushed, owners);
        before = runtime.metrics();
        for (auto& one : fibers) one.join();
    });
    EXPECT_GE(after.forced - before.forced, 1u);
    EXPECT_LE(after.barriers - before.barriers, 3u);
}

// The owner blocks beside a fork that it pushed while no request was pending. Each round would need
// force if the owner did not publish by itself after the first.
TEST(forced_publication, forced_owner_publishes_next_forks) {
    if (!sennit::sys::barrier_available())
        GTEST_SKIP() << "the kernel has no private expedited barrier";
    constexpr int rounds = 50;
    sennit::runtime runtime({.workers = 2, .max_spare_workers = 0});
    runtime.run([&] {
        for (int i = 0; i < rounds; ++i) {
            std::atomic<int> outer{0}, inner_pushed{0}, inner{0};
            sennit::fork_join(
                [&] {
                    wait_for(outer, 1); // The thief runs the outer fork, and sends no request.
                    sennit::fork_join([] {},
                                      [] {}); // Answers the request that came with the theft.
                    sennit::fork_join(
                        [&] {
                            add_one(inner_pushed);
                            wait_for(inner, 1);
                        },
                        [&] { add_one(inner); });
                },
                [&] {
                    add_one(outer);
                    wait_for(inner_pushed, 1);
                });
        }
    });
    EXPECT_LE(runtime.metrics().forced, rounds / 2);
}

} // namespace
