// SPDX-License-Identifier: Apache-2.0
// Tests par::mismatch, equal, starts_with, ends_with and lexicographical_compare against their
// serial forms.
#include "oracle.hpp"

#include <string>

namespace {

namespace par = sennit::par;

TEST(par_mismatch, finds_first_difference_at_any_place) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        oracle::as_ranges(values, [&](auto&& range) {
            const auto whole = par::mismatch(range, values);
            EXPECT_EQ(whole.in1, range.end());
            EXPECT_EQ(whole.in2, values.end());
            EXPECT_TRUE(par::equal(range, values));
            EXPECT_FALSE(par::lexicographical_compare(range, values));
            const std::size_t step = 1 + n / 20;
            for (std::size_t place = 0; place < n; place += step) {
                auto other = values;
                ++other[place];
                if (place + 10 < n) --other[place + 10];
                const auto found = par::mismatch(range, other);
                EXPECT_EQ(found.in1 - range.begin(), static_cast<std::ptrdiff_t>(place));
                EXPECT_EQ(found.in2 - other.begin(), static_cast<std::ptrdiff_t>(place));
                EXPECT_FALSE(par::equal(range, other));
                EXPECT_TRUE(par::lexicographical_compare(range, other));
                EXPECT_FALSE(par::lexicographical_compare(other, range));
            }
        });
    });
}

TEST(par_mismatch, mismatch_of_ranges_of_different_length) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n + 5, 1000);
        const auto shorter = std::span(values).first(n);
        EXPECT_EQ(par::mismatch(values, shorter).in1 - values.begin(),
                  static_cast<std::ptrdiff_t>(n));
        EXPECT_EQ(par::mismatch(shorter, values).in2 - values.begin(),
                  static_cast<std::ptrdiff_t>(n));
        EXPECT_FALSE(par::equal(values, shorter));
        EXPECT_TRUE(par::starts_with(values, shorter));
        EXPECT_FALSE(par::starts_with(shorter, values));
        EXPECT_TRUE(par::ends_with(values, std::span(values).last(n)));
        EXPECT_FALSE(par::ends_with(shorter, values));
        EXPECT_TRUE(par::lexicographical_compare(shorter, values));
        EXPECT_FALSE(par::lexicographical_compare(values, shorter));
    });
}

TEST(par_mismatch, predicates_and_projections_are_applied) {
    on_workers([] {
        std::vector<oracle::boxed> boxes;
        std::vector<std::string> texts;
        for (int i = 0; i < 2000; ++i) {
            boxes.emplace_back(i);
            texts.push_back(std::to_string(i));
        }
        const auto number = [](const std::string& text) { return std::stoi(text); };
        EXPECT_TRUE(par::equal(boxes, texts, {}, &oracle::boxed::value, number));
        texts[1234] = "7";
        EXPECT_EQ(par::mismatch(boxes, texts, {}, &oracle::boxed::value, number).in1 -
                      boxes.begin(),
                  1234);
        const auto close = [](int a, int b) { return a - b < 2000; };
        EXPECT_TRUE(par::equal(boxes, texts, close, &oracle::boxed::value, number));
        EXPECT_FALSE(par::lexicographical_compare(boxes, texts, {}, &oracle::boxed::value, number));
    });
}

TEST(par_mismatch, exception_of_lowest_pair_is_reported) {
    on_workers([] {
        const auto numbers = std::views::iota(0, 30'000);
        const auto picky = [](int a, int b) {
            if (a >= 10'000) throw std::runtime_error(std::to_string(a));
            return a == b;
        };
        EXPECT_EQ(oracle::error_of([&] { (void)par::equal(numbers, numbers, picky); }), "10000");
    });
}

} // namespace
