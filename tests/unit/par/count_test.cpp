// SPDX-License-Identifier: Apache-2.0
// Tests par::count, reduce and the extreme elements against their serial forms.
#include "oracle.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

using oracle::boxed;
namespace par = sennit::par;

TEST(par_count, counts_what_serial_form_counts) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 3);
        oracle::as_ranges(values, [&](auto&& range) {
            EXPECT_EQ(par::count(range, 1), std::ranges::count(values, 1));
            const auto is_odd = [](int v) {
                oracle::yield_at(static_cast<std::size_t>(v));
                return v % 2 != 0;
            };
            EXPECT_EQ(par::count_if(range, is_odd), std::ranges::count_if(values, is_odd));
        });
        const std::vector<bool> bits(values.begin(), values.end());
        EXPECT_EQ(par::count(bits, true), std::ranges::count(bits, true));
    });
}

TEST(par_reduce, reduces_in_order) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 10);
        std::string expected = ">";
        for (int value : values) expected += std::to_string(value);
        std::vector<std::string> texts;
        for (int value : values) texts.push_back(std::to_string(value));
        oracle::as_ranges(texts, [&](auto&& range) {
            EXPECT_EQ(par::reduce(range, std::string(">")), expected);
            EXPECT_EQ(par::reduce(par::deterministic, range, std::string(">")), expected);
        });
        EXPECT_EQ(par::reduce(values.begin(), values.end(), 0L),
                  std::accumulate(values.begin(), values.end(), 0L));
    });
}

TEST(par_reduce, projection_reads_members_and_temporaries) {
    on_workers([] {
        std::vector<boxed> boxes;
        for (int i = 0; i < 3000; ++i) boxes.emplace_back(i);
        EXPECT_EQ(par::reduce(boxes, 0, std::plus<>(), &boxed::value), 3000 * 2999 / 2);
        const auto made =
            std::views::iota(0, 3000) | std::views::transform([](int i) { return boxed(i); });
        EXPECT_EQ(par::reduce(made, 0, std::plus<>(), &boxed::value), 3000 * 2999 / 2);
        const auto words = std::views::iota(0, 100) | std::views::transform([](int i) {
                               return std::string(30, static_cast<char>('a' + i % 26));
                           });
        EXPECT_EQ(par::reduce(words, std::string()).size(), 3000u);
    });
}

TEST(par_transform_reduce, two_ranges_give_inner_product) {
    oracle::on_sizes([](std::size_t n) {
        const auto first = oracle::random_ints(n, 100);
        const auto second = oracle::random_ints(n + 2, 100);
        const long expected = std::inner_product(first.begin(), first.end(), second.begin(), 3L);
        EXPECT_EQ(par::transform_reduce(first, second, 3L), expected);
        EXPECT_EQ(par::transform_reduce(first.begin(), first.end(), second.begin(), 3L), expected);
        EXPECT_EQ(par::transform_reduce(par::deterministic, first, second, 3L, std::plus<>(),
                                        std::multiplies<>()),
                  expected);
    });
}

TEST(par_min_element, finds_the_elements_of_serial_forms) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : {3, 1'000'000}) { // many ties, few ties
            const auto values = oracle::random_ints(n, bound);
            oracle::as_ranges(values, [&](auto&& range) {
                EXPECT_EQ(par::min_element(range), std::ranges::min_element(range));
                EXPECT_EQ(par::max_element(range), std::ranges::max_element(range));
                EXPECT_EQ(par::min_element(range, std::greater<>()),
                          std::ranges::min_element(range, std::greater<>()));
                const auto found = par::minmax_element(range);
                const auto expected = std::ranges::minmax_element(range);
                EXPECT_EQ(found.min, expected.min);
                EXPECT_EQ(found.max, expected.max);
                if (n == 0) return;
                EXPECT_EQ(par::min(range), std::ranges::min(range));
                EXPECT_EQ(par::max(range), std::ranges::max(range));
                EXPECT_EQ(par::minmax(range).min, std::ranges::min(range));
                EXPECT_EQ(par::minmax(range).max, std::ranges::max(range));
            });
        }
    });
}

template <class T>
void expect_extremes_of_numbers() {
    constexpr std::size_t block = par::detail::extreme_numbers<T, par::detail::is_less>::block;
    for (std::size_t n : {block - 1, block, block + 1, 3 * block + 5, std::size_t{9000}}) {
        for (int bound : {1, 3, 100}) {
            const auto drawn = oracle::random_ints(n, bound);
            const std::vector<T> values(drawn.begin(), drawn.end());
            EXPECT_EQ(par::min_element(values), std::ranges::min_element(values));
            EXPECT_EQ(par::max_element(values), std::ranges::max_element(values));
            const auto found = par::minmax_element(values);
            const auto expected = std::ranges::minmax_element(values);
            EXPECT_EQ(found.min, expected.min);
            EXPECT_EQ(found.max, expected.max);
            EXPECT_EQ(par::minmax(values).max, *expected.max);
        }
    }
}

TEST(par_min_element, finds_extremes_of_each_type_of_numbers) {
    on_workers([] {
        expect_extremes_of_numbers<double>();
        expect_extremes_of_numbers<float>();
        expect_extremes_of_numbers<std::int8_t>();
        expect_extremes_of_numbers<std::uint64_t>();
    });
}

TEST(par_min_element, nan_leads_to_no_place_outside_of_range) {
    on_workers([] {
        for (int nan_every : {1, 2, 7, 300}) {
            std::vector<double> values(5000);
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = i % static_cast<std::size_t>(nan_every) == 0
                                ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(i % 97);
            const auto both = par::minmax_element(values);
            for (const auto at :
                 {par::min_element(values), par::max_element(values), both.min, both.max})
                EXPECT_LT(at - values.begin(), 5000);
        }
    });
}

TEST(par_min_element, projections_and_move_only_elements_work) {
    on_workers([] {
        std::vector<std::unique_ptr<int>> boxes;
        for (int i = 0; i < 3000; ++i) boxes.push_back(std::make_unique<int>((i * 7919) % 3000));
        const auto inside = [](const std::unique_ptr<int>& box) { return *box; };
        EXPECT_EQ(**par::min_element(boxes, {}, inside), 0);
        EXPECT_EQ(**par::max_element(boxes, {}, inside), 2999);
    });
}

TEST(par_min_element, comparison_is_called_n_minus_1_times) {
    sennit::runtime runtime({.workers = 1});
    const auto values = oracle::random_ints(10'000, 1'000'000);
    std::size_t calls = 0;
    runtime.run([&] {
        (void)par::min_element(values, [&](int a, int b) {
            ++calls;
            return a < b;
        });
    });
    EXPECT_EQ(calls, 9'999u);
}

TEST(par_min_element, exception_of_comparison_is_reported) {
    on_workers([] {
        const auto numbers = std::views::iota(0, 20'000);
        const auto picky = [](int a, int b) -> bool {
            if (a == 12'345 || b == 12'345) throw std::runtime_error("12345");
            return a < b;
        };
        EXPECT_EQ(oracle::error_of([&] { (void)par::max_element(numbers, picky); }), "12345");
    });
}

} // namespace
