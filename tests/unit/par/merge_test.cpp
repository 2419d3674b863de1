// SPDX-License-Identifier: Apache-2.0
// Tests par::merge against its serial form.
#include "oracle.hpp"

#include <numeric>
#include <stdexcept>

namespace {

namespace par = sennit::par;

struct keyed {
    int key;
    int source;
    bool operator==(const keyed&) const = default;
};

std::vector<keyed> sorted_keys(std::size_t n, int keys, int source) {
    auto random = oracle::random_ints(n, keys);
    std::ranges::sort(random);
    std::vector<keyed> values;
    for (int key : random) values.push_back({key, source});
    return values;
}

// The second range is the longer one in half of the cases: a merge that cuts it by lower_bound is
// not stable there.
TEST(par_merge, stable_merge_cuts_second_run_by_upper_bound) {
    oracle::on_sizes([](std::size_t n) {
        for (std::size_t n2 : {std::size_t{0}, n / 5, n, 3 * n}) {
            for (int keys : {1, 3, 1000}) {
                const auto first = sorted_keys(n, keys, 1);
                const auto second = sorted_keys(n2, keys, 2);
                std::vector<keyed> out(n + n2);
                const auto result = par::merge(first, second, out, {}, &keyed::key, &keyed::key);
                EXPECT_EQ(result.in1, first.end());
                EXPECT_EQ(result.in2, second.end());
                EXPECT_EQ(result.out, out.end());
                std::vector<keyed> expected(n + n2);
                std::ranges::merge(first, second, expected.begin(), {}, &keyed::key, &keyed::key);
                EXPECT_EQ(out, expected);
            }
        }
    });
}

// Stretches of one range, around the length of the blocks that are copied as a whole.
TEST(par_merge, stretches_of_any_length_are_merged) {
    on_workers([] {
        for (std::size_t stretch : {1u, 7u, 15u, 16u, 17u, 31u, 33u, 100u, 1000u}) {
            std::vector<int> first;
            std::vector<int> second;
            for (std::size_t i = 0; i != 5000; ++i)
                (i / stretch % 2 == 0 ? first : second).push_back(static_cast<int>(i / 3));
            std::vector<int> out(5000);
            par::merge(first, second, out);
            std::vector<int> expected(5000);
            std::ranges::merge(first, second, expected.begin());
            EXPECT_EQ(out, expected) << stretch;
        }
    });
}

// Once, a merge by branches compared again without a step between, and never ended.
TEST(par_merge, comparison_that_answers_in_turns_ends) {
    on_workers([] {
        std::vector<int> first(2000);
        std::iota(first.begin(), first.end(), 0);
        const std::vector<int> second = first;
        std::vector<int> out(4000);
        int calls = 0;
        // The first blocks have few changes between the runs, so the merge takes the branches.
        const auto lies = [&](int x, int y) {
            return ++calls < 500 ? x / 8 < y / 8 : calls % 2 == 0;
        };
        par::merge(par::with{.max_workers = 1}, first, second, out, lies);
        EXPECT_GT(calls, 1000);
    });
}

TEST(par_merge, output_beyond_bound_stays_untouched) {
    on_workers([] {
        const auto first = sorted_keys(3000, 100, 1);
        const auto second = sorted_keys(2000, 100, 2);
        std::vector<keyed> expected(5000);
        std::ranges::merge(first, second, expected.begin(), {}, &keyed::key, &keyed::key);
        for (std::size_t room : {0u, 1u, 2500u, 4999u}) {
            std::vector<keyed> out(5000, keyed{-1, -1});
            const auto result =
                par::merge(first, second, std::span(out).first(room), {}, &keyed::key, &keyed::key);
            const auto taken = (result.in1 - first.begin()) + (result.in2 - second.begin());
            EXPECT_EQ(taken, static_cast<std::ptrdiff_t>(room));
            EXPECT_TRUE(
                std::ranges::equal(std::span(out).first(room), std::span(expected).first(room)));
            EXPECT_EQ(std::ranges::count(out, keyed{-1, -1}),
                      static_cast<std::ptrdiff_t>(5000 - room));
        }
    });
}

TEST(par_merge, inconsistent_comparison_reads_inside_the_ranges) {
    on_workers([] {
        auto first = oracle::random_ints(5000, 100);
        auto second = oracle::random_ints(7000, 100);
        std::vector<int> out(12'000);
        oracle::as_ranges(first, [&](auto&& range) {
            (void)par::merge(range, second, out,
                             [](int a, int b) { return (a * 31 + b) % 2 == 0; });
        });
        const auto picky = [](int a, int b) -> bool {
            if (a == 57) throw std::runtime_error("57");
            return a < b;
        };
        // Only sorted ranges make sure that each 57 is compared, wherever the merge is divided.
        std::ranges::sort(first);
        std::ranges::sort(second);
        EXPECT_EQ(oracle::error_of([&] { (void)par::merge(first, second, out, picky); }), "57");
    });
}

} // namespace
