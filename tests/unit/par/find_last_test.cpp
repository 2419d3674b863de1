// SPDX-License-Identifier: Apache-2.0
// Tests par::find_last and its forms, search_n, contains_subrange and is_heap against their serial
// forms.
#include "oracle.hpp"

#include <functional>
#include <stdexcept>

namespace {

namespace par = sennit::par;

// std::ranges::find_last is C++23.
template <class R, class Test>
auto last_match(R& range, Test test) {
    auto at = std::ranges::end(range);
    while (at != std::ranges::begin(range))
        if (test(*--at)) return at;
    return std::ranges::end(range);
}

TEST(par_find_last, returns_last_match_and_the_end) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : {2, 100, 1'000'000}) {
            oracle::as_ranges(oracle::random_ints(n, bound), [](auto&& range) {
                const auto end = std::ranges::end(range);
                const auto is_one = [](int v) { return v == 1; };
                const auto same = par::find_last(range, 1);
                EXPECT_EQ(same.begin(), last_match(range, is_one));
                EXPECT_EQ(same.end(), end);
                EXPECT_EQ(par::find_last_if(range, is_one).begin(), last_match(range, is_one));
                const auto other = par::find_last_if_not(range, is_one);
                EXPECT_EQ(other.begin(), last_match(range, std::not_fn(is_one)));
                EXPECT_TRUE(par::find_last(range, -1).empty());
            });
        }
    });
}

TEST(par_find_last, throws_only_behind_the_match) {
    on_workers([] {
        std::vector<int> values(5000);
        par::iota(values, 0);
        const auto bad = [](int v) -> bool {
            if (v < 100) throw std::runtime_error("bad");
            return v == 4000;
        };
        EXPECT_EQ(*par::find_last_if(values, bad).begin(), 4000);
        const auto none = [&](int v) { return bad(v) && v == 0; };
        EXPECT_THROW(par::find_last_if(values, none), std::runtime_error);
    });
}

TEST(par_search_n, returns_first_run_of_the_length) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : {1, 2, 5}) {
            auto values = oracle::random_ints(n, bound);
            for (int count : {-1, 0, 1, 2, 5, 9, 100}) {
                const auto found = par::search_n(values, count, 0);
                const auto expected = std::ranges::search_n(values, count, 0);
                EXPECT_EQ(found.begin(), expected.begin()) << count;
                EXPECT_EQ(found.end(), expected.end()) << count;
            }
        }
        auto values = oracle::random_ints(n, 100);
        const auto found = par::search_n(values.begin(), values.end(), 3, 50, std::ranges::less());
        EXPECT_EQ(found.begin(), std::ranges::search_n(values, 3, 50, std::ranges::less()).begin());
    });
}

TEST(par_contains_subrange, agrees_with_search) {
    on_workers([] {
        const auto text = oracle::random_ints(3000, 4);
        for (std::size_t length : {0u, 1u, 4u, 20u, 4000u}) {
            const auto word = oracle::random_ints(length, 4);
            EXPECT_EQ(par::contains_subrange(text, word),
                      length == 0 || !std::ranges::search(text, word).empty());
        }
        EXPECT_TRUE(par::contains_subrange(text, std::span(text).last(500)));
    });
}

TEST(par_is_heap, finds_first_element_greater_than_its_parent) {
    oracle::on_sizes([](std::size_t n) {
        auto values = oracle::random_ints(n, 1000);
        EXPECT_EQ(par::is_heap_until(values), std::ranges::is_heap_until(values));
        std::ranges::make_heap(values);
        EXPECT_TRUE(par::is_heap(values));
        for (std::size_t broken : {n / 2, n - (n > 0)}) {
            if (broken == 0) continue;
            auto other = values;
            other[broken] = 1001;
            EXPECT_FALSE(par::is_heap(other));
            EXPECT_EQ(par::is_heap_until(other), std::ranges::is_heap_until(other));
        }
        std::ranges::make_heap(values, std::ranges::greater(), std::negate<>());
        EXPECT_TRUE(par::is_heap(values, std::ranges::greater(), std::negate<>()));
    });
}

} // namespace
