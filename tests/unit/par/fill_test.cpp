// SPDX-License-Identifier: Apache-2.0
// Tests par::fill, generate, iota, replace, reverse and swap_ranges against their serial forms.
#include "oracle.hpp"

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

namespace par = sennit::par;

TEST(par_fill, writes_every_element) {
    oracle::on_sizes([](std::size_t n) {
        oracle::as_ranges(oracle::random_ints(n, 5), [&](auto&& range) {
            const auto end = par::fill(range, 9);
            EXPECT_EQ(end, range.end());
            EXPECT_EQ(std::ranges::count(range, 9), static_cast<std::ptrdiff_t>(n));
            par::fill_n(range.begin(), static_cast<std::ptrdiff_t>(n / 2), 8);
            EXPECT_EQ(std::ranges::count(range, 8), static_cast<std::ptrdiff_t>(n / 2));
        });
        std::vector<std::string> texts(n);
        par::fill(texts, "a text that needs memory of its own");
        EXPECT_EQ(std::ranges::count(texts, "a text that needs memory of its own"),
                  static_cast<std::ptrdiff_t>(n));
    });
}

TEST(par_generate, calls_generator_once_for_each_element) {
    oracle::on_sizes([](std::size_t n) {
        std::atomic<int> next{0};
        std::vector<int> out(n);
        par::generate(out, [&] { return next++; });
        EXPECT_EQ(next.load(), static_cast<int>(n));
        std::ranges::sort(out);
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], static_cast<int>(i));
        par::generate_n(out.begin(), static_cast<std::ptrdiff_t>(n / 3), [] { return -1; });
        EXPECT_EQ(std::ranges::count(out, -1), static_cast<std::ptrdiff_t>(n / 3));
    });
}

TEST(par_iota, writes_consecutive_values) {
    oracle::on_sizes([](std::size_t n) {
        oracle::as_ranges(std::vector<unsigned>(n), [&](auto&& range) {
            const auto result = par::iota(range, 5u);
            EXPECT_EQ(result.out, range.end());
            EXPECT_EQ(result.value, 5u + n);
            unsigned expected = 5;
            for (unsigned value : range) ASSERT_EQ(value, expected++);
        });
    });
    std::vector<int> numbers(1000);
    std::vector<int*> places(1000);
    par::iota(places, numbers.data()); // an iterator counts up, too
    EXPECT_EQ(places.back(), &numbers.back());
}

TEST(par_replace, replaces_what_serial_form_replaces) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 3);
        oracle::as_ranges(values, [&](auto&& range) {
            auto expected = values;
            std::ranges::replace(expected, 1, 7);
            EXPECT_EQ(par::replace(range, 1, 7), range.end());
            EXPECT_TRUE(std::ranges::equal(range, expected));
            const auto is_odd = [](int v) { return v % 2 != 0; };
            std::ranges::replace_if(expected, is_odd, 4);
            par::replace_if(range, is_odd, 4);
            EXPECT_TRUE(std::ranges::equal(range, expected));
        });
    });
}

TEST(par_replace, projection_and_move_only_predicate_work) {
    on_workers([] {
        std::vector<oracle::boxed> boxes;
        for (int i = 0; i < 2000; ++i) boxes.emplace_back(i % 2);
        auto is_one = [one = std::make_unique<int>(1)](int v) { return v == *one; };
        par::replace_if(boxes, is_one, oracle::boxed(5), &oracle::boxed::value);
        EXPECT_EQ(std::ranges::count(boxes, 5, &oracle::boxed::value), 1000);
        par::replace(boxes, 0, oracle::boxed(6), &oracle::boxed::value);
        EXPECT_EQ(std::ranges::count(boxes, 6, &oracle::boxed::value), 1000);
    });
}

TEST(par_reverse, reverses_any_range) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        oracle::as_ranges(values, [&](auto&& range) {
            EXPECT_EQ(par::reverse(range), range.end());
            EXPECT_TRUE(std::ranges::equal(range, values | std::views::reverse));
        });
        std::vector<std::unique_ptr<std::size_t>> boxes;
        for (std::size_t i = 0; i < n; ++i) boxes.push_back(std::make_unique<std::size_t>(i));
        par::reverse(boxes.begin(), boxes.end());
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(*boxes[i], n - 1 - i);
    });
}

TEST(par_swap_ranges, swaps_as_far_as_both_ranges_reach) {
    oracle::on_sizes([](std::size_t n) {
        const auto first = oracle::random_ints(n, 1000);
        oracle::as_ranges(first, [&](auto&& range) {
            std::vector<int> second(n + 3, -1);
            const auto result = par::swap_ranges(range, second);
            EXPECT_EQ(result.in1, range.end());
            EXPECT_EQ(result.in2 - second.begin(), static_cast<std::ptrdiff_t>(n));
            EXPECT_EQ(std::ranges::count(range, -1), static_cast<std::ptrdiff_t>(n));
            EXPECT_TRUE(std::ranges::equal(first, std::span(second).first(n)));
            EXPECT_EQ(std::ranges::count(std::span(second).subspan(n), -1), 3);
        });
    });
}

} // namespace
