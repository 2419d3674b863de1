// SPDX-License-Identifier: Apache-2.0
// The doorbell of a mailbox and its wakeup: src/actors/runtime/doorbell.hpp.
#include "actors/runtime/doorbell.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace mailbox_tests {
namespace {

using sennit::sched::doorbell;
using sennit::sched::runnable;
using sennit::sched::wakeup;

static_assert(sizeof(doorbell) == 2);
static_assert(sizeof(wakeup) == sizeof(runnable));

void no_task(runnable*) noexcept {}

TEST(doorbell, lets_one_ring_through_until_it_is_answered) {
    doorbell bell;
    EXPECT_TRUE(bell.claim());
    EXPECT_FALSE(bell.claim());
    EXPECT_FALSE(bell.claim_unlooked());
    bell.answer();
    EXPECT_TRUE(bell.claim_unlooked());
    EXPECT_FALSE(bell.claim());
}

TEST(doorbell, lets_one_of_several_threads_ring) {
    constexpr int threads_count = 3, rounds = 200;
    for (int round = 0; round < rounds; ++round) {
        doorbell bell;
        std::atomic<int> claims{0};
        std::latch start(threads_count);
        {
            std::vector<std::jthread> threads;
            for (int k = 0; k < threads_count; ++k)
                threads.emplace_back([&] {
                    start.arrive_and_wait();
                    if (bell.claim()) ++claims;
                });
        }
        ASSERT_EQ(claims, 1);
    }
}

TEST(doorbell, names_the_worker_that_sent_last) {
    doorbell bell;
    EXPECT_EQ(bell.last_sender(), 0u);
    bell.note_sender(3);
    bell.note_sender(2);
    EXPECT_EQ(bell.last_sender(), 2u);
    (void)bell.claim();
    bell.reset();
    EXPECT_EQ(bell.last_sender(), 0u);
    EXPECT_TRUE(bell.claim());
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
