// SPDX-License-Identifier: Apache-2.0
// Tests par::find and its kin, any_of, all_of and none_of against their serial forms.
#include "oracle.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>

namespace {

namespace par = sennit::par;

// The places of a match among n elements: none, the first, the last, and between.
std::vector<std::size_t> places(std::size_t n) {
    std::vector<std::size_t> found{n};
    if (n > 0) found.insert(found.end(), {0, n - 1, n / 2, n / 7});
    return found;
}

TEST(par_find, finds_first_match) {
    oracle::on_sizes([](std::size_t n) {
        for (std::size_t place : places(n)) {
            std::vector<int> values(n, 1);
            // There are further matches behind the first one.
            for (std::size_t i = place; i < n; i += 1 + i / 3) values[i] = 2;
            oracle::as_ranges(values, [&](auto&& range) {
                const auto expected = range.begin() + static_cast<std::ptrdiff_t>(place);
                EXPECT_EQ(par::find(range, 2), expected);
                EXPECT_EQ(par::find(range.begin(), range.end(), 2L), expected);
                EXPECT_EQ(par::find_if(range, [](int v) { return v == 2; }), expected);
                EXPECT_EQ(par::find_if_not(range, [](int v) { return v == 1; }), expected);
                EXPECT_EQ(par::contains(range, 2), place < n);
            });
        }
    });
}

TEST(par_find, find_any_returns_a_match_or_the_end) {
    oracle::on_sizes([](std::size_t n) {
        for (std::size_t place : places(n)) {
            std::vector<int> values(n, 1);
            for (std::size_t i = place; i < n; i += 1 + i / 3) values[i] = 2;
            const auto at = par::find_any(values, 2);
            const auto at_if = par::find_any_if(values, [](int v) { return v == 2; });
            if (place == n) {
                EXPECT_EQ(at, values.end());
                EXPECT_EQ(at_if, values.end());
            } else {
                ASSERT_NE(at, values.end());
                ASSERT_NE(at_if, values.end());
                EXPECT_EQ(*at + *at_if, 4);
            }
        }
    });
}

// parlaylib issue 60: a search for "more than one" went unnoticed for years.
TEST(par_any_of, any_of_with_exactly_one_hit) {
    oracle::on_sizes([](std::size_t n) {
        for (std::size_t place : places(n)) {
            const auto hit = [place](std::size_t i) { return i == place; };
            const auto indices = std::views::iota(std::size_t{0}, n);
            EXPECT_EQ(par::any_of(indices, hit), place < n);
            EXPECT_EQ(par::none_of(indices, hit), place == n);
            EXPECT_EQ(par::all_of(indices, [&](std::size_t i) { return !hit(i); }), place == n);
        }
    });
}

TEST(par_find, numbers_with_nan_and_signed_zero_compare_as_values) {
    std::vector<double> values(1000, std::numeric_limits<double>::quiet_NaN());
    values[700] = -0.0;
    EXPECT_EQ(par::find(values, 0.0) - values.begin(), 700);
    EXPECT_EQ(par::find(values, std::numeric_limits<double>::quiet_NaN()), values.end());
}

TEST(par_find, search_stops_early) {
    on_workers([] {
        std::atomic<std::size_t> examined{0};
        const auto numbers = std::views::iota(0, 100'000'000);
        const auto at = par::find_if(numbers, [&](int v) {
            examined.fetch_add(1, std::memory_order_relaxed);
            return v == 1000;
        });
        EXPECT_EQ(*at, 1000);
        EXPECT_LT(examined.load(), 10'000'000u);
    });
}

TEST(par_find, one_worker_examines_no_element_behind_match) {
    on_workers([] {
        std::size_t examined = 0; // a plain variable: one worker alone changes it
        const auto numbers = std::views::iota(0, 100'000);
        (void)par::find_if({.max_workers = 1}, numbers, [&](int v) {
            ++examined;
            return v == 54'321;
        });
        EXPECT_EQ(examined, 54'322u);
    });
}

TEST(par_find, search_ends_like_serial_search_if_elements_throw) {
    on_workers([] {
        const auto numbers = std::views::iota(0, 50'000);
        const auto search = [&](int match, int bad) {
            return *par::find_if(numbers, [=](int v) {
                if (v >= bad) throw std::runtime_error(std::to_string(v));
                return v == match;
            });
        };
        // The match comes first: exceptions behind it are dropped.
        for (int match : {0, 1, 333, 49'000}) EXPECT_EQ(search(match, match + 1), match);
        for (int bad : {0, 1, 333, 49'000})
            EXPECT_EQ(oracle::error_of([&] { (void)search(bad + 1, bad); }), std::to_string(bad));
    });
}

TEST(par_find, predicate_may_block_on_an_event_and_yield) {
    on_workers([] {
        sennit::event opened;
        sennit::fiber opener([&] { opened.set(); });
        const auto numbers = std::views::iota(0, 3000);
        const auto at = par::find_if(numbers, [&](int v) {
            oracle::yield_at(static_cast<std::size_t>(v));
            if (v == 100) opened.wait();
            return v == 2500;
        });
        EXPECT_EQ(*at, 2500);
        opener.join();
    });
}

TEST(par_find, callables_and_values_may_be_move_only) {
    on_workers([] {
        std::vector<std::unique_ptr<int>> boxes;
        for (int i = 0; i < 1000; ++i) boxes.push_back(std::make_unique<int>(i));
        const auto inside = [](const std::unique_ptr<int>& box) { return *box; };
        EXPECT_EQ(par::find(boxes, 321, inside) - boxes.begin(), 321);
        auto test = [wanted = std::make_unique<int>(123)](const auto& box) {
            return *box == *wanted;
        };
        EXPECT_EQ(par::find_if(boxes, test) - boxes.begin(), 123);
        EXPECT_EQ(par::find(boxes, nullptr), boxes.end());
    });
}

TEST(par_find, plain_thread_searches) {
    const std::vector<int> values = oracle::random_ints(10'000, 1'000'000);
    EXPECT_EQ(par::find(values, values[7000]), std::ranges::find(values, values[7000]));
}

} // namespace
