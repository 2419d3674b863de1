// SPDX-License-Identifier: Apache-2.0
// Tests lease_pool and counter.
#include "on_workers.hpp"

#include <sennit/counter.hpp>
#include <sennit/fork_each.hpp>
#include <sennit/lease_pool.hpp>
#include <sennit/nursery.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

class lease_pool : public on_workers {};
SENNIT_ON_WORKERS(lease_pool);

// The owner of an object writes its own number, suspends, and must find the number again.
TEST_P(lease_pool, lease_is_exclusive_across_suspension_and_migration) {
    sennit::lease_pool<long> pool([] { return 0L; });
    runtime.run([&] {
        sennit::nursery tasks;
        for (long k = 1; k <= 16; ++k)
            tasks.start([&, k] {
                for (int i = 0; i < race_rounds / 50; ++i) {
                    auto mine = pool.borrow();
                    *mine = k;
                    if (i % 3 == 0) sennit::this_fiber::yield();
                    ASSERT_EQ(*mine, k);
                }
            });
        tasks.join();
    });
}

TEST_P(lease_pool, threads_and_forks_borrow) {
    sennit::lease_pool<std::vector<int>> pool;
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
        threads.emplace_back([&] {
            for (int i = 0; i < race_rounds / 10; ++i) pool.borrow()->assign(1, i);
        });
    runtime.run([&] {
        sennit::fork_each(1000, [&](std::size_t i) {
            auto mine = pool.borrow();
            mine->assign(1, static_cast<int>(i));
            ASSERT_EQ(mine->front(), static_cast<int>(i));
        });
    });
    for (auto& one : threads) one.join();
}

TEST_P(lease_pool, makes_objects_only_when_none_is_free) {
    std::atomic<int> made{0};
    {
        sennit::lease_pool<std::unique_ptr<int>> pool([&] {
            ++made;
            return std::make_unique<int>(0);
        });
        const auto body = [&] {
            for (int i = 0; i < 100; ++i) (void)pool.borrow();
            EXPECT_EQ(made, 1);
            auto first = pool.borrow(), second = pool.borrow(), third = pool.borrow();
            EXPECT_EQ(made, 3);
        };
        runtime.run(body);
        // A plain thread finds the objects that a worker has given back.
        auto first = pool.borrow(), second = pool.borrow(), third = pool.borrow();
        EXPECT_EQ(made, 3);
    }
    EXPECT_EQ(made, 3);
}

TEST_P(lease_pool, leases_move_and_end_anywhere) {
    sennit::lease_pool<int> pool([] { return 5; });
    sennit::lease_pool<int>::lease kept;
    EXPECT_FALSE(kept);
    runtime.run([&] { kept = pool.borrow(); });
    ASSERT_TRUE(kept);
    EXPECT_EQ(*kept, 5);
    auto other = std::move(kept);
    EXPECT_FALSE(kept);
    std::thread([mine = std::move(other)]() mutable { *mine = 6; }).join();
    EXPECT_EQ(*pool.borrow(), 6);
}

TEST_P(lease_pool, make_that_throws_leaves_pool_unchanged) {
    bool fail = true;
    sennit::lease_pool<int> pool([&] {
        if (fail) throw std::runtime_error("x");
        return 1;
    });
    EXPECT_THROW((void)pool.borrow(), std::runtime_error);
    fail = false;
    EXPECT_EQ(*pool.borrow(), 1);
    EXPECT_EQ(pool.combine(std::plus<>()), 1);
}

TEST_P(lease_pool, combine_and_for_each_visit_all_objects) {
    sennit::lease_pool<long> sums([] { return 0L; });
    EXPECT_EQ(sums.combine(std::plus<>()), 0) << "a new object if there are none";
    runtime.run([&] {
        sennit::fork_each(10'000, [&](std::size_t i) { *sums.borrow() += static_cast<long>(i); });
    });
    EXPECT_EQ(sums.combine(std::plus<>()), 49'995'000);
    int objects = 0;
    sums.for_each([&](long& one) {
        one = 1;
        ++objects;
    });
    EXPECT_EQ(sums.combine(std::plus<>()), objects);
    EXPECT_THROW(sums.for_each([](long&) { throw std::runtime_error("x"); }), std::runtime_error);
    EXPECT_EQ(sums.combine(std::plus<>()), objects) << "the objects are back after the exception";
}

TEST(lease_pool_misuse, misuse_ends_program) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(
        {
            sennit::lease_pool<int> pool;
            const auto out = pool.borrow();
            pool.for_each([](int&) {});
        },
        "SNT-088");
    EXPECT_DEATH(
        {
            sennit::lease_pool<int>::lease out;
            sennit::lease_pool<int> pool;
            out = pool.borrow();
        },
        "SNT-087");
}

class counter : public on_workers {};
SENNIT_ON_WORKERS(counter);

TEST_P(counter, sum_is_exact_after_join) {
    sennit::counter events;
    EXPECT_EQ(events.value(), 0);
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k)
        threads.emplace_back([&] {
            for (int i = 0; i < race_rounds; ++i) events.add();
        });
    runtime.run([&] {
        sennit::nursery tasks;
        for (int k = 0; k < 16; ++k)
            tasks.start([&] {
                for (int i = 0; i < race_rounds / 10; ++i) {
                    events.add(5);
                    events.add(-4);
                    if (i % 100 == 0) sennit::this_fiber::yield();
                }
            });
        tasks.join();
    });
    for (auto& one : threads) one.join();
    EXPECT_EQ(events.value(), 3L * race_rounds + 16L * (race_rounds / 10));
}

TEST_P(counter, wraps_around) {
    sennit::counter one;
    one.add(INT64_MAX);
    one.add(1);
    EXPECT_EQ(one.value(), INT64_MIN);
}

} // namespace
