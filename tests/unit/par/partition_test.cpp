// SPDX-License-Identifier: Apache-2.0
// Tests par::partition, par::remove_if, par::remove and par::unique against their serial forms.
#include "oracle.hpp"

#include <sennit/fiber.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>

namespace {

namespace par = sennit::par;

// How many distinct values the elements have.
constexpr int bounds[] = {1, 2, 3, 1000};

TEST(par_partition, puts_matches_in_front_and_keeps_all_elements) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : bounds) {
            const auto values = oracle::random_ints(n, bound);
            const auto small = [bound](int v) { return 2 * v < bound; };
            auto sorted = values;
            std::ranges::sort(sorted);
            oracle::as_ranges(values, [&](auto&& range) {
                const auto others = par::partition(range, small);
                EXPECT_EQ(others.end(), std::ranges::end(range));
                EXPECT_EQ(others.begin() - std::ranges::begin(range),
                          std::ranges::count_if(values, small));
                EXPECT_TRUE(std::all_of(std::ranges::begin(range), others.begin(), small));
                EXPECT_TRUE(std::ranges::none_of(others, small));
                std::ranges::sort(range);
                EXPECT_TRUE(std::ranges::equal(range, sorted));
            });
        }
    });
}

TEST(par_partition, pieces_of_several_workers_are_joined) {
    on_workers([] {
        std::vector<std::unique_ptr<int>> boxes;
        for (int value : oracle::random_ints(3000, 1000))
            boxes.push_back(std::make_unique<int>(value));
        const auto others = par::partition({.max_grain = 7}, boxes, [](const auto& box) {
            oracle::yield_at(static_cast<std::size_t>(*box));
            return *box % 3 == 0;
        });
        for (auto& box : std::span(boxes.begin(), others.begin())) EXPECT_EQ(*box % 3, 0);
        for (auto& box : others) EXPECT_NE(*box % 3, 0);
    });
}

TEST(par_partition, exception_keeps_all_elements) {
    on_workers([] {
        auto values = oracle::random_ints(5000, 5000);
        auto expected = values;
        std::ranges::sort(expected);
        std::atomic<int> calls{0};
        EXPECT_THROW(par::partition({.max_grain = 16}, values,
                                    [&](int v) {
                                        if (++calls == 3000) throw std::runtime_error("stop");
                                        return v % 2 == 0;
                                    }),
                     std::runtime_error);
        std::ranges::sort(values);
        EXPECT_EQ(values, expected);
    });
}

TEST(par_remove, keeps_the_order_of_the_other_elements) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : bounds) {
            const auto values = oracle::random_ints(n, bound);
            auto expected = values;
            std::erase_if(expected, [](int v) { return v % 2 == 0; });
            oracle::as_ranges(values, [&](auto&& range) {
                const auto rest = par::remove_if(range, [](int v) { return v % 2 == 0; });
                EXPECT_TRUE(std::ranges::equal(
                    std::ranges::subrange(std::ranges::begin(range), rest.begin()), expected));
            });
            auto without_ones = values;
            std::erase(without_ones, 1);
            auto left = values;
            const auto rest = par::remove(left, 1);
            left.erase(rest.begin(), rest.end());
            EXPECT_EQ(left, without_ones);
        }
    });
}

TEST(par_remove, pieces_of_several_workers_are_joined) {
    on_workers([] {
        std::vector<std::unique_ptr<int>> boxes;
        for (int i = 0; i < 3000; ++i) boxes.push_back(std::make_unique<int>(i));
        const auto rest = par::remove_if({.max_grain = 7}, boxes, [](const auto& box) {
            oracle::yield_at(static_cast<std::size_t>(*box));
            return *box % 3 == 0;
        });
        boxes.erase(rest.begin(), rest.end());
        ASSERT_EQ(boxes.size(), 2000u);
        for (int i = 0; i < 2000; ++i)
            EXPECT_EQ(*boxes[static_cast<std::size_t>(i)], i / 2 * 3 + 1 + i % 2);
    });
}

TEST(par_unique, keeps_first_of_each_group) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : bounds) {
            const auto values = oracle::random_ints(n, bound);
            auto expected = values;
            expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
            oracle::as_ranges(values, [&](auto&& range) {
                const auto rest = par::unique(range);
                EXPECT_TRUE(std::ranges::equal(
                    std::ranges::subrange(std::ranges::begin(range), rest.begin()), expected));
            });
        }
    });
}

// The boundaries between the pieces of several workers fall within groups and between them.
TEST(par_unique, groups_across_pieces_are_kept_once) {
    on_workers([] {
        for (int length : {1, 2, 5, 500, 3000}) {
            std::vector<std::pair<int, int>> values;
            for (int i = 0; i < 3000; ++i) values.emplace_back(i / length, i);
            const auto rest = par::unique(
                {.max_grain = 7}, values,
                [](int a, int b) {
                    oracle::yield_at(static_cast<std::size_t>(a));
                    return a == b;
                },
                &std::pair<int, int>::first);
            values.erase(rest.begin(), rest.end());
            ASSERT_EQ(values.size(), static_cast<std::size_t>((2999 + length) / length));
            for (std::size_t i = 0; i < values.size(); ++i)
                EXPECT_EQ(values[i], std::pair(static_cast<int>(i), static_cast<int>(i) * length));
        }
    });
}

} // namespace
