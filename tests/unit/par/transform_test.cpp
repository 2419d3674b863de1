// SPDX-License-Identifier: Apache-2.0
// Tests par::transform and par::adjacent_difference against their serial forms.
#include "oracle.hpp"

#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

using oracle::boxed;
namespace par = sennit::par;

TEST(par_transform, one_range_gives_results_of_serial_form) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        oracle::as_ranges(values, [&](auto&& range) {
            std::vector<long> out(n);
            const auto twice = [](int v) { return 2L * v; };
            const auto result = par::transform(range, out, twice);
            EXPECT_EQ(result.in, range.end());
            EXPECT_EQ(result.out, out.end());
            std::vector<long> expected(n);
            std::ranges::transform(values, expected.begin(), twice);
            EXPECT_EQ(out, expected);
        });
    });
}

TEST(par_transform, two_ranges_give_results_of_serial_form) {
    oracle::on_sizes([](std::size_t n) {
        const auto first = oracle::random_ints(n, 1000);
        const auto second = oracle::random_ints(n + 3, 1000);
        std::vector<int> out(n);
        const auto result = par::transform(first, second, out, std::minus<>());
        EXPECT_EQ(result.in1, first.end());
        EXPECT_EQ(result.in2 - second.begin(), static_cast<std::ptrdiff_t>(n));
        EXPECT_EQ(result.out, out.end());
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], first[i] - second[i]);
    });
}

TEST(par_transform, output_beyond_bound_stays_untouched) {
    on_workers([] {
        const auto values = oracle::random_ints(5000, 1000);
        for (std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{4999}}) {
            std::vector<int> out(5000, -1);
            const auto same = [](int v) { return v; };
            const auto result = par::transform(values, std::span(out).first(room), same);
            EXPECT_EQ(result.in - values.begin(), static_cast<std::ptrdiff_t>(room));
            EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(room),
                                   values.begin()));
            EXPECT_EQ(std::count(out.begin() + static_cast<std::ptrdiff_t>(room), out.end(), -1),
                      static_cast<std::ptrdiff_t>(5000 - room));
            std::vector<int> sums(5000, -1);
            par::transform(values, values, std::span(sums).first(room), std::plus<>());
            EXPECT_EQ(std::count(sums.begin() + static_cast<std::ptrdiff_t>(room), sums.end(), -1),
                      static_cast<std::ptrdiff_t>(5000 - room));
        }
    });
}

TEST(par_transform, iterators_projections_and_unbounded_output_work) {
    on_workers([] {
        std::vector<boxed> boxes;
        for (int i = 0; i < 3000; ++i) boxes.emplace_back(i);
        std::vector<int> out(3000);
        par::transform(boxes.begin(), boxes.end(), out.begin(), std::unreachable_sentinel,
                       std::negate<>(), &boxed::value);
        for (int i = 0; i < 3000; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], -i);
        par::transform(boxes, boxes, out, std::plus<>(), &boxed::value, &boxed::value);
        for (int i = 0; i < 3000; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], 2 * i);
        par::transform(out, out, [](int v) { return v / 2; }); // in place
        for (int i = 0; i < 3000; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], i);
    });
}

TEST(par_transform, function_may_yield_and_return_move_only_values) {
    on_workers([] {
        const auto indices = std::views::iota(std::size_t{0}, std::size_t{5000});
        std::vector<std::unique_ptr<std::size_t>> out(5000);
        par::transform(indices, out, [](std::size_t i) {
            oracle::yield_at(i);
            return std::make_unique<std::size_t>(i);
        });
        for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(*out[i], i);
    });
}

TEST(par_transform, exception_of_lowest_element_is_reported) {
    on_workers([] {
        const auto values = std::views::iota(0, 20'000);
        std::vector<int> out(20'000);
        for (int bad : {0, 1, 777, 19'999}) {
            const auto text =
                oracle::error_of([&] { par::transform(values, out, oracle::throws_from(bad)); });
            EXPECT_EQ(text, std::to_string(bad));
        }
    });
}

TEST(par_adjacent_difference, differences_equal_those_of_serial_form) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        oracle::as_ranges(values, [&](auto&& range) {
            std::vector<int> out(n + 1, -7);
            const auto result = par::adjacent_difference(range, out);
            EXPECT_EQ(result.in, range.end());
            std::vector<int> expected(n + 1, -7);
            std::adjacent_difference(values.begin(), values.end(), expected.begin());
            EXPECT_EQ(out, expected);
        });
    });
}

} // namespace
