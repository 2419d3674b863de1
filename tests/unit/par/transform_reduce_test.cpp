// SPDX-License-Identifier: Apache-2.0
// Tests par::transform_reduce in its fast and its deterministic form.
#include <sennit/sennit.hpp>

#include "on_workers.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using sennit::par::deterministic;
using sennit::par::grain;
using sennit::par::with;
namespace par = sennit::par;

TEST(par_transform_reduce, every_element_is_summed_once) {
    on_workers([] {
        for (std::size_t n : sizes) {
            std::vector<std::uint64_t> values(n);
            std::iota(values.begin(), values.end(), std::uint64_t{1});
            const auto twice = [](std::uint64_t v) { return 2 * v; };
            const std::uint64_t expected = 5 + n * (n + 1);
            EXPECT_EQ(par::transform_reduce(values, std::uint64_t{5}, std::plus<>(), twice),
                      expected);
            EXPECT_EQ(par::transform_reduce(grain{9}, values.begin(), values.end(),
                                            std::uint64_t{5}, std::plus<>(), twice),
                      expected);
            EXPECT_EQ(par::transform_reduce(deterministic, values, std::uint64_t{5}, std::plus<>(),
                                            twice),
                      expected);
            EXPECT_EQ(par::transform_reduce(with{.min_grain = 9, .deterministic = true},
                                            values.begin(), values.end(), std::uint64_t{5},
                                            std::plus<>(), twice),
                      expected);
        }
    });
}

TEST(par_transform_reduce, noncommutative_operation_keeps_order) {
    on_workers([] {
        std::string expected = "start:";
        for (int i = 0; i < 3000; ++i) expected += std::to_string(i) + ' ';
        const auto numbers = std::views::iota(0, 3000);
        const auto text = [](int i) { return std::to_string(i) + ' '; };
        for (std::size_t elements : {0u, 1u, 7u, 10'000u}) {
            EXPECT_EQ(par::transform_reduce(grain{elements}, numbers, std::string("start:"),
                                            std::plus<>(), text),
                      expected);
            EXPECT_EQ(par::transform_reduce(with{.min_grain = elements, .deterministic = true},
                                            numbers, std::string("start:"), std::plus<>(), text),
                      expected);
        }
    });
}

std::vector<float> floats_of_mixed_magnitude(std::size_t n) {
    std::mt19937 random(12345);
    std::uniform_real_distribution<float> exponent(-20.0f, 20.0f);
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i)
        values[i] = (i % 2 == 0 ? 1.0f : -1.0f) * std::exp2(exponent(random));
    return values;
}

TEST(par_transform_reduce, deterministic_form_gives_equal_bits_on_any_number_of_workers) {
    for (std::size_t n : {std::size_t{7}, std::size_t{1000}, large(300'001)}) {
        for (std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{250}}) {
            SCOPED_TRACE(std::to_string(n) + " elements, grain " + std::to_string(elements));
            const std::vector<float> values = floats_of_mixed_magnitude(n);
            std::vector<std::uint32_t> bits;
            on_workers([&] {
                for (int round = 0; round < 5; ++round)
                    bits.push_back(std::bit_cast<std::uint32_t>(par::transform_reduce(
                        with{.min_grain = elements, .deterministic = true}, values, 0.0f,
                        std::plus<>(), [](float v) { return v * 1.1f; })));
            });
            EXPECT_EQ(std::count(bits.begin(), bits.end(), bits.front()),
                      static_cast<std::ptrdiff_t>(bits.size()));
        }
    }
}

// If the sum did not depend on the grouping, the test of the deterministic form could not fail.
TEST(par_transform_reduce, sum_of_these_floats_depends_on_grouping) {
    sennit::runtime runtime({.workers = 1});
    const std::vector<float> values = floats_of_mixed_magnitude(300'001);
    const auto sum = [&](std::size_t elements) {
        return runtime.run([&] {
            return par::transform_reduce(with{.min_grain = elements, .deterministic = true}, values,
                                         0.0f, std::plus<>(), std::identity());
        });
    };
    EXPECT_NE(sum(1), sum(250));
}

// Each grouping of these sums is exact, so a number that is lost or added twice shows.
TEST(par_transform_reduce, groups_of_floating_point_numbers_hold_each_number_once) {
    on_workers([] {
        for (const std::size_t n : sizes) {
            std::vector<double> values(n);
            std::vector<float> few(std::min<std::size_t>(n, 1000));
            for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i * i % 1009);
            for (std::size_t i = 0; i < few.size(); ++i) few[i] = static_cast<float>(i % 97);
            EXPECT_EQ(par::transform_reduce(values, 0.5, std::plus<>(), std::identity()),
                      std::accumulate(values.begin(), values.end(), 0.5));
            EXPECT_EQ(par::transform_reduce(few, few, 0.0f),
                      std::inner_product(few.begin(), few.end(), few.begin(), 0.0f));
        }
    });
}

TEST(par_transform_reduce, groups_of_floating_point_numbers_keep_their_order) {
    on_workers([] {
        // An associative operation that does not commute: the first number that is not zero.
        const auto first = [](double a, double b) { return a != 0 ? a : b; };
        std::vector<double> values(10'000);
        for (const std::size_t at : {0u, 5u, 77u, 9'999u}) {
            std::fill(values.begin(), values.end(), 0.0);
            for (std::size_t i = at; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
            EXPECT_EQ(par::reduce(values, 0.0, first), static_cast<double>(at + 1));
        }
    });
}

struct block { // Larger than a fork's slot, and move-only.
    std::unique_ptr<long> sum;
    char filling[100] = {};
};

TEST(par_transform_reduce, large_move_only_values_are_reduced) {
    on_workers([] {
        const auto make = [](long i) { return block{std::make_unique<long>(i)}; };
        const auto add = [](block a, block b) {
            *a.sum += *b.sum;
            return a;
        };
        const auto numbers = std::views::iota(0L, 20'000L);
        EXPECT_EQ(*par::transform_reduce(numbers, make(1), add, make).sum, 1 + 19'999L * 10'000L);
        EXPECT_EQ(*par::transform_reduce(deterministic, numbers, make(1), add, make).sum,
                  1 + 19'999L * 10'000L);
    });
}

TEST(par_transform_reduce, exception_of_lowest_throwing_element_is_reported) {
    on_workers([] {
        const auto numbers = std::views::iota(0, 50'000);
        const auto picky = [](int i) -> long {
            if (i >= 20'000) throw std::runtime_error(std::to_string(i));
            return i;
        };
        const auto message = [&](auto&& call) -> std::string {
            try {
                call();
            } catch (const std::runtime_error& error) {
                return error.what();
            }
            return "no exception";
        };
        EXPECT_EQ(message([&] { par::transform_reduce(numbers, 0L, std::plus<>(), picky); }),
                  "20000");
        EXPECT_EQ(message([&] {
                      par::transform_reduce(deterministic, numbers, 0L, std::plus<>(), picky);
                  }),
                  "20000");
    });
}

TEST(par_transform_reduce, transform_reduce_takes_deques_and_nests) {
    on_workers([] {
        const std::deque<int> values(300, 2);
        const long sum =
            par::transform_reduce(std::views::iota(0, 40), 0L, std::plus<>(), [&](int i) {
                const auto scaled = [i](int v) { return long{v} * i; };
                return i % 2 == 0 ? par::transform_reduce(values, 0L, std::plus<>(), scaled)
                                  : par::transform_reduce(deterministic, values, 0L, std::plus<>(),
                                                          scaled);
            });
        EXPECT_EQ(sum, 600L * (39 * 40 / 2));
    });
}

TEST(par_transform_reduce, plain_thread_runs_reduction) {
    long fast = 0;
    long exact = 0;
    std::thread foreign([&] {
        const auto numbers = std::views::iota(0L, 10'000L);
        fast = par::transform_reduce(numbers, 0L, std::plus<>(), std::identity());
        exact = par::transform_reduce(deterministic, numbers, 0L, std::plus<>(), std::identity());
    });
    foreign.join();
    EXPECT_EQ(fast, 49'995'000L);
    EXPECT_EQ(exact, 49'995'000L);
}

// The test hangs if one worker must run both elements.
TEST(par_transform_reduce, two_long_elements_run_on_two_workers) {
    sennit::runtime runtime({.workers = 2});
    for (bool exact : {false, true}) {
        std::atomic<int> started{0};
        const auto meet = [&](int) {
            ++started;
            while (started.load() < 2) std::this_thread::yield();
            return 1;
        };
        const int met = runtime.run([&] {
            const auto two = std::views::iota(0, 2);
            return exact ? par::transform_reduce(deterministic, two, 0, std::plus<>(), meet)
                         : par::transform_reduce(two, 0, std::plus<>(), meet);
        });
        EXPECT_EQ(met, 2);
    }
}

} // namespace
