// SPDX-License-Identifier: Apache-2.0
// Parallel algorithms that want memory: when it is refused they work without it, or throw
// std::bad_alloc before an element has moved.
#include "faults.hpp"

#include <sennit/par/group_by.hpp>
#include <sennit/par/radix_sort.hpp>
#include <sennit/par/rotate.hpp>
#include <sennit/par/set_operations.hpp>
#include <sennit/par/shuffle.hpp>
#include <sennit/par/sort.hpp>
#include <sennit/par/stable_partition.hpp>
#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <vector>

namespace {

namespace par = sennit::par;
using faults::extent, faults::request;

std::vector<int> numbers(std::size_t n) {
    std::mt19937 random(7);
    std::vector<int> values(n);
    for (int& value : values) value = static_cast<int>(random() % 1000);
    return values;
}

// Calls `body` without memory: the first request, the third one, and all requests are refused.
template <class F>
void refuse_memory(F&& body) {
    for (unsigned workers : {1u, 2u}) {
        sennit::runtime runtime({.workers = workers});
        runtime.run([&] {
            body(1, extent::all_from_there);
            body(1, extent::one);
            body(3, extent::all_from_there);
        });
    }
}

TEST(refused_room, algorithms_with_a_way_without_memory_give_the_result) {
    const auto values = numbers(100'000);
    auto sorted = values;
    std::ranges::sort(sorted);
    std::vector<int> parted;
    const auto even = [](int v) { return v % 2 == 0; };
    std::ranges::copy_if(values, std::back_inserter(parted), even);
    std::ranges::remove_copy_if(values, std::back_inserter(parted), even);
    auto rotated = values;
    std::ranges::rotate(rotated, rotated.begin() + 100);
    std::vector<int> united(values.size());
    refuse_memory([&](long nth, extent how) {
        auto by_comparison = values;
        auto by_digits = values;
        auto partition = values;
        auto rotation = values;
        faults::refuse(request::allocation, nth, how);
        par::stable_sort(by_comparison, [](int a, int b) { return a < b; }); // needs room
        par::radix_sort(by_digits);
        par::stable_partition(partition, even);
        par::rotate({.max_grain = 100}, rotation, rotation.begin() + 100);
        par::set_union({.max_grain = 1000}, sorted, sorted, united);
        (void)faults::stop();
        EXPECT_EQ(by_comparison, sorted);
        EXPECT_EQ(by_digits, sorted);
        EXPECT_EQ(partition, parted);
        EXPECT_EQ(rotation, rotated);
        EXPECT_EQ(united, sorted);
    });
}

TEST(refused_room, shuffle_and_groups_throw_and_leave_the_elements) {
    const auto values = numbers(100'000);
    refuse_memory([&](long, extent how) {
        auto shuffled = values;
        faults::refuse(request::allocation, 1, how);
        bool shuffle_threw = false;
        bool groups_threw = false;
        try {
            par::shuffle(shuffled, 7);
        } catch (const std::bad_alloc&) {
            shuffle_threw = true;
        }
        try {
            (void)par::group_by(values, [](int v) { return v; });
        } catch (const std::bad_alloc&) {
            groups_threw = true;
        }
        (void)faults::stop();
        EXPECT_TRUE(shuffle_threw);
        EXPECT_EQ(groups_threw, how == extent::all_from_there);
        EXPECT_EQ(shuffled, values);
    });
}

} // namespace
