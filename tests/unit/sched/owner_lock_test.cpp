// SPDX-License-Identifier: Apache-2.0
#include "sched/owner_lock.hpp"

#include "sched/tuning.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using sennit::sched::owner_lock;
using sennit::sched::owner_section;
namespace tuning = sennit::sched::tuning;

void claim_once(owner_lock& lock) {
    std::thread([&] {
        ASSERT_TRUE(lock.claim());
        lock.release();
    }).join();
}

TEST(owner_lock, lets_nobody_in_while_the_owner_is_inside) {
    owner_lock lock;
    lock.enter();
    std::thread([&] { EXPECT_FALSE(lock.claim()); }).join();
    lock.leave();
    claim_once(lock);
}

TEST(owner_lock, gives_others_their_turns_one_by_one) {
    owner_lock lock;
    std::thread([&] {
        ASSERT_TRUE(lock.claim());
        std::thread([&] { EXPECT_FALSE(lock.claim()); }).join();
        lock.release();
    }).join();
    claim_once(lock);
}

TEST(owner_lock, makes_the_owner_wait_for_who_is_inside) {
    owner_lock lock;
    std::atomic<bool> claimed{false}, leaving{false};
    std::thread other([&] {
        ASSERT_TRUE(lock.claim());
        claimed = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        leaving = true;
        lock.release();
    });
    while (!claimed) std::this_thread::yield();
    {
        owner_section inside(lock);
        EXPECT_TRUE(leaving);
    }
    other.join();
}

TEST(owner_lock, is_wary_for_some_sections_behind_a_claim) {
    owner_lock lock;
    if (lock.fenced()) GTEST_SKIP() << "it is always wary here";
    EXPECT_FALSE(lock.is_wary());
    for (int claims = 0; claims < 2; ++claims) { // each begins it anew
        claim_once(lock);
        for (unsigned i = 0; i < tuning::wary_sections; ++i) owner_section inside(lock);
        EXPECT_TRUE(lock.is_wary());
    }
    {
        owner_section inside(lock);
    }
    EXPECT_FALSE(lock.is_wary());
    claim_once(lock);
    EXPECT_TRUE(lock.is_wary());
}

// Plain counters: a second one inside shows as a wrong sum, and to ThreadSanitizer.
TEST(owner_lock, counts_right_with_an_owner_and_three_others) {
#ifdef SENNIT_EMULATED
    GTEST_SKIP() << "under the emulator one run in five loses counts, on a host whose own program loses none; the "
                    "explorer covers the protocol with the orders of AArch64";
#endif
    owner_lock lock;
    long count = 0;
    std::atomic<long> let_in{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i)
        others.emplace_back([&] {
            while (!over) {
                if (!lock.claim()) {
                    std::this_thread::yield();
                    continue;
                }
                ++count;
                lock.release();
                let_in.fetch_add(1);
            }
        });
    constexpr long rounds = 20'000;
    for (long i = 0; i < rounds || let_in < 5; ++i) {
        owner_section inside(lock);
        ++count;
        if (i >= rounds) --count;
    }
    over = true;
    for (std::thread& one : others) one.join();
    EXPECT_EQ(count, rounds + let_in);
}

} // namespace
