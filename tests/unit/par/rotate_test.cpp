// SPDX-License-Identifier: Apache-2.0
// Tests par::rotate, shift_left and shift_right against their serial forms.
#include "oracle.hpp"

#include <sennit/nursery.hpp>

#include <atomic>
#include <memory>
#include <numeric>

namespace {

namespace par = sennit::par;

std::vector<int> ascending(std::size_t n) {
    std::vector<int> values(n);
    std::iota(values.begin(), values.end(), 0);
    return values;
}
std::vector<std::size_t> distances(std::size_t n) {
    std::vector<std::size_t> all{0, 1, n / 7, n / 2, n - n / 3, n};
    std::erase_if(all, [n](std::size_t d) { return d > n; });
    return all;
}

TEST(par_rotate, result_is_that_of_the_serial_form) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = ascending(n);
        for (std::size_t by : distances(n)) {
            auto expected = values;
            std::rotate(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(by),
                        expected.end());
            oracle::as_ranges(values, [&](auto&& range) {
                const auto sorted = std::vector<int>(range.begin(), range.end());
                const auto moved =
                    par::rotate(range, std::ranges::begin(range) + static_cast<std::ptrdiff_t>(by));
                EXPECT_EQ(moved.begin() - std::ranges::begin(range),
                          static_cast<std::ptrdiff_t>(n - by));
                EXPECT_EQ(moved.end(), std::ranges::end(range));
                EXPECT_TRUE(std::ranges::equal(range, expected));
            });
        }
    });
}

// The chunks are small, so that thieves begin pieces that are shorter and longer than the distance.
TEST(par_rotate, pieces_of_several_workers_are_joined) {
    on_workers([] {
        for (std::size_t n : {std::size_t{100}, std::size_t{5000}, large(40'000)}) {
            for (std::size_t by : {std::size_t{1}, std::size_t{3}, std::size_t{90}, n / 2, n - 5}) {
                std::vector<std::unique_ptr<int>> boxes;
                for (int i : ascending(n)) boxes.push_back(std::make_unique<int>(i));
                par::rotate({.max_grain = 2}, boxes, boxes.begin() + static_cast<long>(by));
                for (std::size_t i = 0; i < n; ++i)
                    ASSERT_EQ(*boxes[i], static_cast<int>((i + by) % n));
            }
        }
    });
}

// More than 256 KiB of distance: blocks are exchanged.
TEST(par_rotate, long_distances_exchange_blocks) {
    on_workers([] {
        using wide = std::array<int, 64>;
        const std::size_t n = 6000;
        for (std::size_t by :
             {std::size_t{1100}, std::size_t{2999}, std::size_t{3000}, std::size_t{4700}}) {
            std::vector<wide> values(n);
            for (std::size_t i = 0; i < n; ++i) values[i][0] = static_cast<int>(i);
            par::rotate(values, values.begin() + static_cast<long>(by));
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_EQ(values[i][0], static_cast<int>((i + by) % n));
        }
    });
}

TEST(par_rotate, elements_whose_moves_may_throw) {
    on_workers([] {
        for (std::size_t by : {std::size_t{1}, std::size_t{700}, std::size_t{2000}}) {
            std::vector<oracle::throwing_move> values;
            for (int i = 0; i < 5000; ++i) values.emplace_back(i);
            par::rotate(values, values.begin() + static_cast<long>(by));
            for (std::size_t i = 0; i < values.size(); ++i)
                ASSERT_EQ(values[i].number, static_cast<int>((i + by) % 5000));
            const auto left = par::shift_left(values, static_cast<long>(by));
            EXPECT_EQ(std::ssize(left), static_cast<long>(5000 - by));
            EXPECT_EQ(left.front().number, static_cast<int>(2 * by));
        }
    });
}

TEST(par_rotate, cancelled_rotation_keeps_all_elements) {
    on_workers([] {
        for (std::size_t by : {std::size_t{1}, std::size_t{1000}}) {
            std::vector<std::unique_ptr<int>> boxes;
            for (int i : ascending(20'000)) boxes.push_back(std::make_unique<int>(i));
            bool threw = false;
            sennit::nursery jobs;
            jobs.start([&] {
                jobs.cancel();
                try {
                    par::rotate({.max_grain = 10}, boxes, boxes.begin() + static_cast<long>(by));
                } catch (const sennit::cancelled&) {
                    threw = true;
                }
            });
            jobs.join();
            EXPECT_TRUE(threw);
            std::vector<int> left;
            for (const auto& box : boxes) {
                ASSERT_NE(box, nullptr);
                left.push_back(*box);
            }
            std::ranges::sort(left);
            EXPECT_EQ(left, ascending(20'000));
        }
    });
}

TEST(par_shift, results_are_those_of_the_serial_forms) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = ascending(n);
        for (std::size_t by : distances(n)) {
            const auto distance = static_cast<std::ptrdiff_t>(by);
            oracle::as_ranges(values, [&](auto&& range) {
                const auto left = par::shift_left(range, distance);
                EXPECT_EQ(left.begin(), std::ranges::begin(range));
                EXPECT_TRUE(std::ranges::equal(left, values | std::views::drop(distance)));
            });
            oracle::as_ranges(values, [&](auto&& range) {
                const auto right = par::shift_right({.max_grain = 7}, range, distance);
                EXPECT_EQ(right.end(), std::ranges::end(range));
                EXPECT_TRUE(std::ranges::equal(right, values | std::views::take(n - by)));
            });
        }
        auto whole = values;
        EXPECT_EQ(std::ranges::ssize(par::shift_left(whole, -1)), std::ssize(values));
        EXPECT_TRUE(par::shift_right(whole, std::ssize(values) + 1).empty());
    });
}

TEST(par_shift, long_distances_move_in_rounds) {
    on_workers([] {
        for (std::size_t by : {std::size_t{50'000}, std::size_t{70'000}, std::size_t{200'000}}) {
            auto values = ascending(250'000);
            const auto left = par::shift_left(values, static_cast<long>(by));
            EXPECT_TRUE(std::ranges::equal(left, ascending(250'000) | std::views::drop(by)));
        }
    });
}

} // namespace
