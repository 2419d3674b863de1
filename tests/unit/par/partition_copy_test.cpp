// SPDX-License-Identifier: Apache-2.0
// Tests par::partition_copy, partial_sort_copy, replace_copy and rotate_copy against their serial
// forms.
#include "oracle.hpp"

#include <sennit/nursery.hpp>

#include <atomic>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace {

namespace par = sennit::par;

bool odd(int value) {
    return value % 2 != 0;
}

TEST(par_partition_copy, writes_both_groups_in_order) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        std::vector<int> odds(n, -1);
        std::vector<int> evens(n, -1);
        const auto result = par::partition_copy(values, odds, evens, [](int v) {
            oracle::yield_at(static_cast<std::size_t>(v));
            return odd(v);
        });
        EXPECT_EQ(result.in, values.end());
        std::vector<int> expected1(n, -1);
        std::vector<int> expected2(n, -1);
        const auto same =
            std::ranges::partition_copy(values, expected1.begin(), expected2.begin(), odd);
        EXPECT_EQ(odds, expected1);
        EXPECT_EQ(evens, expected2);
        EXPECT_EQ(result.out1 - odds.begin(), same.out1 - expected1.begin());
        EXPECT_EQ(result.out2 - evens.begin(), same.out2 - expected2.begin());
    });
}

TEST(par_partition_copy, stops_at_first_element_without_room) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        for (auto [room1, room2] : {std::pair{n / 4, n}, {n, n / 4}, {n / 3, n / 3}, {n, n}}) {
            std::vector<int> out1(room1);
            std::vector<int> out2(room2);
            std::vector<int> expected1;
            std::vector<int> expected2;
            auto at = values.begin();
            for (; at != values.end(); ++at) {
                auto& out = odd(*at) ? expected1 : expected2;
                if (out.size() == (odd(*at) ? room1 : room2)) break;
                out.push_back(*at);
            }
            const auto result = par::partition_copy(values, out1, out2, odd);
            EXPECT_EQ(result.in, at);
            EXPECT_TRUE(std::equal(out1.begin(), result.out1, expected1.begin(), expected1.end()));
            EXPECT_TRUE(std::equal(out2.begin(), result.out2, expected2.begin(), expected2.end()));
        }
    });
}

TEST(par_partition_copy, exception_ends_it) {
    on_workers([] {
        std::vector<int> values(10'000);
        std::iota(values.begin(), values.end(), 0);
        std::vector<int> out1(values.size());
        std::vector<int> out2(values.size());
        EXPECT_EQ(oracle::error_of([&] {
                      par::partition_copy({.max_grain = 1}, values, out1, out2, [](int v) {
                          return oracle::throws_from(7000)(v) % 3 == 0;
                      });
                  }),
                  "7000");
    });
}

TEST(par_partial_sort_copy, copies_smallest_elements_in_order) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : {3, 1'000'000}) {
            const auto values = oracle::random_ints(n, bound);
            for (std::size_t room : {std::size_t{0}, std::size_t{10}, n / 7, n, n + 5}) {
                std::vector<int> out(room, -1);
                const auto result = par::partial_sort_copy(values, out, std::ranges::greater());
                EXPECT_EQ(result.in, values.end());
                std::vector<int> expected(room, -1);
                const auto same =
                    std::ranges::partial_sort_copy(values, expected, std::ranges::greater());
                EXPECT_EQ(out, expected);
                EXPECT_EQ(result.out - out.begin(), same.out - expected.begin());
            }
        }
    });
}

TEST(par_partial_sort_copy, projections_and_boxed_elements) {
    on_workers([] {
        const auto numbers = oracle::random_ints(5000, 100'000);
        std::vector<oracle::boxed> out(20, oracle::boxed(0));
        par::partial_sort_copy(numbers, out, {}, std::negate<>(),
                               [](const oracle::boxed& b) { return -b.value; });
        auto expected = numbers;
        std::ranges::sort(expected, std::ranges::greater());
        for (std::size_t i = 0; i != out.size(); ++i) EXPECT_EQ(out[i].value, expected[i]);
    });
}

TEST(par_replace_copy, replaces_matches_and_keeps_the_input) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 4);
        for (std::size_t room : {n, n / 2}) {
            std::vector<int> out(room);
            std::vector<int> expected(n);
            std::ranges::replace_copy(values, expected.begin(), 2, 7);
            expected.resize(room);
            auto result = par::replace_copy(values, out, 2, 7);
            EXPECT_EQ(out, expected);
            EXPECT_EQ(result.in - values.begin(), static_cast<std::ptrdiff_t>(room));
            result =
                par::replace_copy_if(values.begin(), values.end(), out.begin(), out.end(), odd, -1);
            EXPECT_EQ(result.out, out.end());
            for (std::size_t i = 0; i != room; ++i)
                ASSERT_EQ(out[i], odd(values[i]) ? -1 : values[i]);
        }
    });
}

TEST(par_rotate_copy, begins_in_the_middle) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1'000'000);
        for (std::size_t middle : {std::size_t{0}, n / 3, n}) {
            const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
            std::vector<int> expected(n);
            std::ranges::rotate_copy(values, at, expected.begin());
            std::vector<int> out(n);
            const auto all = par::rotate_copy(values, at, out);
            EXPECT_EQ(out, expected);
            EXPECT_EQ(all.in1, values.end());
            EXPECT_EQ(all.in2, at);
            EXPECT_EQ(all.out, out.end());
            std::vector<int> half(n / 2);
            const auto part = par::rotate_copy(values, at, half);
            EXPECT_TRUE(std::equal(half.begin(), half.end(), expected.begin()));
            EXPECT_EQ((part.in1 - at) + (part.in2 - values.begin()), part.out - half.begin());
        }
    });
}

} // namespace
