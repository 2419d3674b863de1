// SPDX-License-Identifier: Apache-2.0
// Tests fiber_local: each strand has its own value, which is destroyed with the strand.
#include "sennit/fiber_local.hpp"

#include "sennit/channel.hpp"
#include "sennit/fiber.hpp"
#include "sennit/fork_each.hpp"
#include "sennit/this_fiber.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct counted {
    static inline std::atomic<int> alive{0};
    static inline std::atomic<int> made{0};
    counted() { ++alive, ++made; }
    counted(counted&&) noexcept { ++alive; }
    ~counted() { --alive; }
    int value = 0;
};

TEST(fiber_local, each_fiber_has_its_own_value) {
    sennit::runtime two({.workers = 2});
    sennit::fiber_local<int> mine([] { return 7; });
    two.run([&] {
        mine.get() = 1;
        std::vector<sennit::fiber> fibers;
        for (int i = 0; i < 100; ++i)
            fibers.emplace_back([&mine, i] {
                EXPECT_EQ(*mine, 7);
                *mine = i;
                for (int k = 0; k < 10; ++k) {
                    sennit::this_fiber::yield(); // The fiber may continue in another thread.
                    EXPECT_EQ(*mine, i);
                }
            });
        for (auto& one : fibers) one.join();
        EXPECT_EQ(*mine, 1);
    });
}

TEST(fiber_local, value_is_created_at_first_use_and_destroyed_before_join_returns) {
    sennit::runtime two({.workers = 2});
    sennit::fiber_local<counted> mine;
    counted::made = 0;
    two.run([&] {
        for (int i = 0; i < 1000; ++i) {
            sennit::fiber user([&] {
                EXPECT_FALSE(mine.has_value());
                mine->value = 1;
                EXPECT_TRUE(mine.has_value());
            });
            sennit::fiber other([] {});
            user.join();
            EXPECT_EQ(counted::alive, 0);
            other.join();
        }
    });
    EXPECT_EQ(counted::made, 1000);
}

TEST(fiber_local, values_are_destroyed_newest_first_and_may_use_other_values) {
    static std::string order;
    order.clear();
    static sennit::fiber_local<std::shared_ptr<int>> helper(
        [] { return std::make_shared<int>(5); });
    struct last_words {
        const char* name;
        last_words(const char* n) : name(n) {}
        last_words(last_words&& other) noexcept : name(std::exchange(other.name, nullptr)) {}
        ~last_words() {
            if (!name) return;
            order += name;
            EXPECT_EQ(**helper, 5); // The helper's value is created again if it is gone already.
        }
    };
    sennit::fiber_local<last_words> a([] { return last_words("a"); });
    sennit::fiber_local<last_words> b([] { return last_words("b"); });
    sennit::runtime one({.workers = 1});
    one.run([&] {
        sennit::fiber user([&] {
            (void)helper.get();
            (void)a.get();
            (void)b.get();
        });
        user.join();
    });
    EXPECT_EQ(order, "ba");
}

TEST(fiber_local, reset_destroys_value_and_next_use_creates_another) {
    sennit::runtime one({.workers = 1});
    sennit::fiber_local<int> mine([] { return 3; });
    one.run([&] {
        *mine = 4;
        mine.reset();
        EXPECT_FALSE(mine.has_value());
        EXPECT_EQ(*mine, 3);
        mine.reset();
        mine.reset();
    });
}

TEST(fiber_local, value_of_thread_is_destroyed_with_thread) {
    sennit::fiber_local<counted> mine;
    std::thread([&] {
        mine->value = 1;
        EXPECT_EQ(counted::alive, 1);
    }).join();
    EXPECT_EQ(counted::alive, 0);
}

TEST(fiber_local, parent_does_not_share_value_with_stolen_child) {
    sennit::runtime two({.workers = 2});
    sennit::fiber_local<int> mine([] { return 0; });
    two.run([&] {
        *mine = 1;
        std::atomic<int> here{0};
        sennit::fork_each(2, [&](std::size_t) {
            ++here;
            // Both children run at the same time, so one of them is stolen.
            while (here < 2) sennit::this_fiber::checkpoint();
            EXPECT_TRUE(*mine == 1 || *mine == 0);
            *mine += 10;
        });
        EXPECT_EQ(*mine, 11);
    });
}

TEST(fiber_local, throwing_maker_leaves_no_value) {
    sennit::runtime one({.workers = 1});
    sennit::fiber_local<int> mine([]() -> int { throw std::runtime_error("no"); });
    one.run([&] {
        EXPECT_THROW((void)mine.get(), std::runtime_error);
        EXPECT_FALSE(mine.has_value());
    });
}

} // namespace
