// SPDX-License-Identifier: Apache-2.0
// Tests the table of suspended tasks: places are reused, and the table grows with the tasks that
// live at once.
#include "core/diagnostics/task_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace {

using sennit::sched::task_strand;
using sennit::sched::task_table;

// The table never looks into a strand, so any even address serves.
struct alignas(16) stand_in {
    task_strand& strand() { return reinterpret_cast<task_strand&>(*this); }
    task_table::number place = 0;
};

std::set<const void*> listed_in(const task_table& table) {
    std::set<const void*> found;
    table.for_each([&](task_strand& one) { EXPECT_TRUE(found.insert(&one).second); });
    return found;
}

TEST(task_table, table_lists_added_strands_until_they_are_removed) {
    task_table table;
    EXPECT_EQ(listed_in(table).size(), 0U);
    std::deque<stand_in> all(10'000);
    std::set<const void*> expected;
    std::mt19937 random(1);
    for (int step = 0; step < 100'000; ++step) {
        stand_in& one = all[random() % all.size()];
        if (one.place != 0) {
            task_table::remove(one.place);
            one.place = 0;
            expected.erase(&one);
        } else {
            one.place = table.add(one.strand());
            ASSERT_NE(one.place, 0U);
            expected.insert(&one);
        }
        if (step % 10'000 == 0) {
            EXPECT_EQ(listed_in(table), expected);
        }
    }
    EXPECT_EQ(listed_in(table), expected);
}

TEST(task_table, capacity_follows_the_strands_that_live_at_once) {
    task_table table;
    std::deque<stand_in> all(1000);
    for (int round = 0; round < 1000; ++round) {
        for (stand_in& one : all) one.place = table.add(one.strand());
        for (stand_in& one : all) task_table::remove(one.place);
    }
    EXPECT_LE(table.capacity(), 4 * all.size());
    EXPECT_EQ(listed_in(table).size(), 0U);
}

// One strand stays in each chunk, so no chunk is ever empty.
TEST(task_table, capacity_is_bounded_while_old_strands_stay) {
    task_table table;
    std::deque<stand_in> stay(100);
    std::deque<stand_in> all(1000);
    for (int round = 0; round < 1000; ++round) {
        if (round % 10 == 0) {
            stand_in& one = stay[static_cast<std::size_t>(round / 10)];
            one.place = table.add(one.strand());
        }
        for (stand_in& one : all) one.place = table.add(one.strand());
        for (stand_in& one : all) task_table::remove(one.place);
    }
    EXPECT_LE(table.capacity(), 8 * all.size());
    EXPECT_EQ(listed_in(table).size(), stay.size());
}

TEST(task_table, another_thread_removes_strands_while_the_owner_adds) {
    constexpr std::size_t many = 200'000;
    task_table table;
    std::vector<stand_in> all(many);
    std::atomic<std::size_t> added{0};
    std::thread other([&] {
        for (std::size_t i = 0; i < many; ++i) {
            while (added.load(std::memory_order_acquire) <= i) std::this_thread::yield();
            if (i % 100 != 0) task_table::remove(all[i].place);
        }
    });
    for (std::size_t i = 0; i < many; ++i) {
        all[i].place = table.add(all[i].strand());
        added.store(i + 1, std::memory_order_release);
    }
    other.join();
    const std::set<const void*> left = listed_in(table);
    EXPECT_EQ(left.size(), many / 100);
    for (std::size_t i = 0; i < many; i += 100) EXPECT_TRUE(left.contains(&all[i]));
}

} // namespace
