// SPDX-License-Identifier: Apache-2.0
// Tests par::adjacent_find, is_sorted, is_sorted_until and is_partitioned against their serial
// forms.
#include "oracle.hpp"

#include <numeric>

namespace {

namespace par = sennit::par;

// A pair that decides lies at each place, so that some lie across the edge of two chunks.
TEST(par_adjacent_find, finds_first_pair_across_edges_of_chunks) {
    oracle::on_sizes([](std::size_t n) {
        std::vector<int> values(n);
        std::iota(values.begin(), values.end(), 0);
        const std::size_t step = 1 + n / 40;
        for (std::size_t place = 0; place < n; place += step) {
            auto twice = values;
            if (place + 1 < n) twice[place + 1] = twice[place];
            EXPECT_EQ(par::adjacent_find(twice), std::ranges::adjacent_find(twice));
        }
    });
}

TEST(par_is_sorted, finds_end_of_sorted_prefix_across_edges_of_chunks) {
    oracle::on_sizes([](std::size_t n) {
        std::vector<int> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<int>(i / 2);
        oracle::as_ranges(values, [&](auto&& range) {
            EXPECT_TRUE(par::is_sorted(range));
            EXPECT_EQ(par::is_sorted_until(range), range.end());
            EXPECT_EQ(par::is_sorted(range, std::ranges::greater()), n < 3);
        });
        const std::size_t step = 1 + n / 40;
        for (std::size_t place = 1; place < n; place += step) {
            auto broken = values;
            broken[place] = -1;
            EXPECT_FALSE(par::is_sorted(broken));
            EXPECT_EQ(par::is_sorted_until(broken), std::ranges::is_sorted_until(broken));
        }
    });
}

TEST(par_is_partitioned, answers_like_serial_form) {
    oracle::on_sizes([](std::size_t n) {
        const auto is_even = [](int v) { return v % 2 == 0; };
        std::vector<int> values = oracle::random_ints(n, 1000);
        EXPECT_EQ(par::is_partitioned(values, is_even),
                  std::ranges::is_partitioned(values, is_even));
        std::ranges::partition(values, is_even);
        EXPECT_TRUE(par::is_partitioned(values, is_even));
        if (n < 3) return;
        values.back() = 0;
        values[n - 2] = 1;
        EXPECT_FALSE(par::is_partitioned(values, is_even));
    });
}

TEST(par_is_sorted, projection_is_applied) {
    std::vector<oracle::boxed> boxes;
    for (int i = 0; i < 1000; ++i) boxes.emplace_back(1000 - i);
    EXPECT_TRUE(par::is_sorted(boxes, std::ranges::greater(), &oracle::boxed::value));
    EXPECT_FALSE(par::is_sorted(boxes, {}, &oracle::boxed::value));
}

} // namespace
