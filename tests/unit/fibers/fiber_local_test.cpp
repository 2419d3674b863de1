// SPDX-License-Identifier: Apache-2.0
// fiber_local: one value for each activity, destroyed with it.
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

TEST(fiber_local, gives_each_fiber_a_value_of_its_own) {
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
                    sennit::this_fiber::yield(); // may go on in another thread
                    EXPECT_EQ(*mine, i);
                }
            });
        for (auto& one : fibers) one.join();
        EXPECT_EQ(*mine, 1);
    });
}

TEST(fiber_local, is_made_at_first_use_and_gone_before_the_join_returns) {
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

TEST(fiber_local, values_are_destroyed_newest_first_and_may_use_others) {
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
            EXPECT_EQ(**helper, 5); // made anew where it is gone already
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

TEST(fiber_local, reset_destroys_the_value_and_the_next_use_makes_another) {
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

TEST(fiber_local, works_in_threads_and_ends_with_them) {
    sennit::fiber_local<counted> mine;
    std::thread([&] {
        mine->value = 1;
        EXPECT_EQ(counted::alive, 1);
    }).join();
    EXPECT_EQ(counted::alive, 0);
}

TEST(fiber_local, is_not_shared_between_a_parent_and_its_stolen_children) {
    sennit::runtime two({.workers = 2});
    sennit::fiber_local<int> mine([] { return 0; });
    two.run([&] {
        *mine = 1;
        std::atomic<int> here{0};
        sennit::fork_each(2, [&](std::size_t) {
            ++here;
            while (here < 2)
                sennit::this_fiber::checkpoint(); // both at once: one of them is stolen
            EXPECT_TRUE(*mine == 1 || *mine == 0);
            *mine += 10;
        });
        EXPECT_EQ(*mine, 11);
    });
}

TEST(fiber_local, a_maker_that_throws_leaves_no_value) {
    sennit::runtime one({.workers = 1});
    sennit::fiber_local<int> mine([]() -> int { throw std::runtime_error("no"); });
    one.run([&] {
        EXPECT_THROW((void)mine.get(), std::runtime_error);
        EXPECT_FALSE(mine.has_value());
    });
}

} // namespace
