// SPDX-License-Identifier: Apache-2.0
// Tests the results of par::sort and par::stable_sort against their serial forms.
#include "oracle.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>

namespace {

namespace par = sennit::par;

// Sequences with the patterns that sorting algorithms treat in different ways.
std::vector<std::vector<int>> patterns(std::size_t n) {
    std::vector<int> ascending(n);
    std::iota(ascending.begin(), ascending.end(), 0);
    std::vector<int> descending(ascending.rbegin(), ascending.rend());
    std::vector<int> saw(n);
    for (std::size_t i = 0; i < n; ++i) saw[i] = static_cast<int>(i % 37);
    std::vector<int> pipe = ascending;
    std::reverse(pipe.begin() + static_cast<std::ptrdiff_t>(n / 2), pipe.end());
    std::vector<int> almost = ascending;
    for (std::size_t i = 0; i + 7 < n; i += 101) std::swap(almost[i], almost[i + 7]);
    return {oracle::random_ints(n, 1'000'000),
            oracle::random_ints(n, 3),
            ascending,
            descending,
            std::vector<int>(n, 5),
            saw,
            pipe,
            almost};
}

// stable_sort does not know that equal integers are the same under this comparison, and merges.
constexpr auto by_value = [](const auto& a, const auto& b) { return a < b; };

TEST(par_sort, sorts_every_pattern_like_serial_form) {
    oracle::on_sizes([](std::size_t n) {
        for (const auto& values : patterns(n)) {
            auto expected = values;
            std::ranges::sort(expected);
            auto sorted = values;
            EXPECT_EQ(par::sort(sorted), sorted.end());
            EXPECT_EQ(sorted, expected);
            auto stable = values;
            EXPECT_EQ(par::stable_sort(stable, by_value), stable.end());
            EXPECT_EQ(stable, expected);
            par::sort(sorted.begin(), sorted.end(), std::greater<>());
            EXPECT_TRUE(std::ranges::equal(sorted, expected | std::views::reverse));
        }
    });
}

TEST(par_sort, sorts_any_range_and_no_element_outside_of_it) {
    on_workers([] {
        for (std::size_t n : {std::size_t{24}, std::size_t{25}, std::size_t{5000}}) {
            const auto values = oracle::random_ints(n, 1000);
            auto expected = values;
            std::ranges::sort(expected);
            oracle::as_ranges(values, [&](auto&& range) {
                par::sort(range);
                EXPECT_TRUE(std::ranges::equal(range, expected));
            });
            oracle::as_ranges(values, [&](auto&& range) {
                par::stable_sort(range, by_value);
                EXPECT_TRUE(std::ranges::equal(range, expected));
            });
            // Elements beside the range would move if the sort read them.
            std::vector<int> framed{-1};
            framed.insert(framed.end(), values.begin(), values.end());
            framed.push_back(-1);
            par::sort(std::span(framed).subspan(1, n));
            EXPECT_EQ(framed.front() + framed.back(), -2);
            EXPECT_TRUE(std::ranges::equal(std::span(framed).subspan(1, n), expected));
        }
    });
}

TEST(par_sort, sorts_strings_move_only_and_non_default_constructible_elements) {
    on_workers([] {
        const auto values = oracle::random_ints(6000, 500);
        auto expected = values;
        std::ranges::sort(expected);
        std::vector<std::string> texts;
        std::vector<std::unique_ptr<int>> boxes;
        std::vector<oracle::boxed> plain;
        for (int value : values) {
            texts.push_back("a text that needs memory of its own " + std::to_string(value));
            boxes.push_back(std::make_unique<int>(value));
            plain.emplace_back(value);
        }
        auto stable_texts = texts;
        auto expected_texts = texts;
        std::ranges::sort(expected_texts);
        par::sort(texts);
        par::stable_sort(stable_texts);
        EXPECT_EQ(texts, expected_texts);
        EXPECT_EQ(stable_texts, expected_texts);
        const auto inside = [](const std::unique_ptr<int>& box) { return *box; };
        par::stable_sort(boxes, {}, inside);
        par::sort(boxes, std::ranges::greater(), inside);
        par::stable_sort(boxes, {}, inside);
        par::sort(plain, {}, &oracle::boxed::value);
        for (std::size_t i = 0; i < values.size(); ++i) {
            ASSERT_EQ(*boxes[i], expected[i]);
            ASSERT_EQ(plain[i].value, expected[i]);
        }
    });
}

struct tagged {
    int key;
    std::size_t number;
    bool operator==(const tagged&) const = default;
};

TEST(par_stable_sort, equal_elements_keep_their_order) {
    oracle::on_sizes([](std::size_t n) {
        for (int keys : {1, 2, 50}) {
            std::vector<tagged> values(n);
            const auto random = oracle::random_ints(n, keys);
            for (std::size_t i = 0; i < n; ++i) values[i] = {random[i], i};
            auto expected = values;
            // The numbers make the order total, so that a sort that is not stable gives it.
            std::ranges::sort(expected, {},
                              [](const tagged& v) { return std::pair(v.key, v.number); });
            par::stable_sort(values, {}, &tagged::key);
            EXPECT_EQ(values, expected);
        }
    });
}

TEST(par_sort, result_does_not_depend_on_workers) {
    std::vector<tagged> values(50'000);
    const auto random = oracle::random_ints(values.size(), 100);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = {random[i], i};
    std::vector<std::vector<tagged>> results;
    on_workers([&] {
        results.push_back(values);
        par::sort(results.back(), {}, &tagged::key);
    });
    for (const auto& result : results) EXPECT_EQ(result, results.front());
}

TEST(par_sort, comparison_may_block_yield_and_sort) {
    on_workers([] {
        sennit::event opened;
        sennit::fiber opener([&] { opened.set(); });
        auto values = oracle::random_ints(3000, 1000);
        par::sort(values, [&](int a, int b) {
            oracle::yield_at(static_cast<std::size_t>(a));
            if (a == 500) opened.wait();
            std::vector<int> both{b, a};
            par::sort(both);
            return a < b && both.front() == a;
        });
        EXPECT_TRUE(std::ranges::is_sorted(values));
        opener.join();
    });
}

TEST(par_sort, limits_of_workers_and_plain_threads_are_obeyed) {
    const auto values = oracle::random_ints(20'000, 1'000'000);
    for (unsigned most : {0u, 1u, 2u}) {
        auto sorted = values;
        par::sort({.max_workers = most}, sorted);
        EXPECT_TRUE(std::ranges::is_sorted(sorted));
        auto stable = values;
        par::stable_sort({.max_workers = most}, stable, by_value);
        EXPECT_EQ(stable, sorted);
        auto same = values;
        par::stable_sort({.max_workers = most}, same);
        EXPECT_EQ(same, sorted);
        par::stable_sort({.max_workers = most}, same, std::greater<>());
        EXPECT_TRUE(std::ranges::is_sorted(same, std::greater<>()));
    }
}

} // namespace
