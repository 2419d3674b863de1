// SPDX-License-Identifier: Apache-2.0
// The wakeup of a mailbox and its flag: src/actors/runtime/wakeup.hpp.
#include "actors/runtime/wakeup.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace mailbox_tests {
namespace {

using sennit::sched::runnable;
using sennit::sched::wakeup;
using sennit::sched::wakeup_flag;

static_assert(sizeof(wakeup_flag) == 2);
static_assert(sizeof(wakeup) == sizeof(runnable));

void no_task(runnable*) noexcept {}

TEST(wakeup_flag, gives_one_claim_until_it_is_cleared) {
    wakeup_flag flag;
    EXPECT_TRUE(flag.claim());
    EXPECT_FALSE(flag.claim());
    EXPECT_FALSE(flag.claim_unlooked());
    flag.clear();
    EXPECT_TRUE(flag.claim_unlooked());
    EXPECT_FALSE(flag.claim());
}

TEST(wakeup_flag, gives_the_claim_to_one_of_several_threads) {
    constexpr int threads_count = 3, rounds = 200;
    for (int round = 0; round < rounds; ++round) {
        wakeup_flag flag;
        std::atomic<int> claims{0};
        std::latch start(threads_count);
        {
            std::vector<std::jthread> threads;
            for (int k = 0; k < threads_count; ++k)
                threads.emplace_back([&] {
                    start.arrive_and_wait();
                    if (flag.claim()) ++claims;
                });
        }
        ASSERT_EQ(claims, 1);
    }
}

TEST(wakeup_flag, names_the_worker_that_sent_last) {
    wakeup_flag flag;
    EXPECT_EQ(flag.last_sender(), 0u);
    flag.note_sender(3);
    flag.note_sender(2);
    EXPECT_EQ(flag.last_sender(), 2u);
    (void)flag.claim();
    flag.reset();
    EXPECT_EQ(flag.last_sender(), 0u);
    EXPECT_TRUE(flag.claim());
}

TEST(wakeup, may_be_taken_by_any_worker_unless_its_mailbox_is_bound) {
    wakeup task(&no_task);
    task.reset(0);
    EXPECT_FALSE(task.bound());
    EXPECT_TRUE(task.affinity_is_soft);
    task.reset(2);
    EXPECT_TRUE(task.bound());
    EXPECT_FALSE(task.affinity_is_soft);
}

TEST(wakeup, is_for_its_owner_alone_once) {
    wakeup task(&no_task);
    task.reset(0);
    task.address_to_owner_only(3);
    EXPECT_EQ(task.affinity, 3u);
    EXPECT_FALSE(task.affinity_is_soft);
    EXPECT_FALSE(task.begin());
    EXPECT_TRUE(task.affinity_is_soft);
}

TEST(wakeup, of_a_bound_mailbox_stays_bound_after_a_return_to_its_owner) {
    wakeup task(&no_task);
    task.reset(2);
    task.address_to_owner_only(2);
    EXPECT_FALSE(task.begin());
    EXPECT_FALSE(task.affinity_is_soft);
}

TEST(wakeup, carries_its_mailbox_once) {
    wakeup task(&no_task);
    task.reset(0);
    task.carry_mailbox_to(2);
    EXPECT_EQ(task.affinity, 2u);
    EXPECT_TRUE(task.carries_mailbox());
    EXPECT_TRUE(task.begin());
    EXPECT_FALSE(task.carries_mailbox());
    task.address_to(1);
    EXPECT_EQ(task.affinity, 1u);
    EXPECT_FALSE(task.begin());
}

} // namespace
} // namespace mailbox_tests
