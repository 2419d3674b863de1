// SPDX-License-Identifier: Apache-2.0
// Tests that par::sort and par::stable_sort keep the elements when a comparison throws or is
// inconsistent, and when they are cancelled.
#include "oracle.hpp"

#include <sennit/nursery.hpp>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

namespace par = sennit::par;

// Elements that own memory, so that a lost or doubled one shows, also to AddressSanitizer.
std::vector<std::unique_ptr<int>> owned(std::size_t n) {
    std::vector<std::unique_ptr<int>> boxes;
    for (int value : oracle::random_ints(n, static_cast<int>(n)))
        boxes.push_back(std::make_unique<int>(value));
    return boxes;
}
// Expects that the numbers are those of oracle::random_ints, in any order.
void expect_permutation(const std::vector<int>& numbers, std::size_t n) {
    ASSERT_EQ(numbers.size(), n);
    std::vector<int> missing(n);
    for (int value : oracle::random_ints(n, static_cast<int>(n)))
        ++missing[static_cast<std::size_t>(value)];
    for (int value : numbers) --missing.at(static_cast<std::size_t>(value));
    EXPECT_EQ(missing, std::vector<int>(n));
}
void expect_permutation(const std::vector<std::unique_ptr<int>>& boxes, std::size_t n) {
    std::vector<int> left;
    for (const auto& box : boxes) {
        ASSERT_NE(box, nullptr);
        left.push_back(*box);
    }
    expect_permutation(left, n);
}

// Sorts numbers and owning elements with a comparison of integers, and checks the permutation. One
// type for all comparisons, so that the compiler sees each sort only twice.
void sort_all(std::size_t n, const std::function<bool(int, int)>& less) {
    const auto expect_kept = [&](auto algorithm) {
        auto boxes = owned(n);
        try {
            algorithm(boxes, [&](const auto& a, const auto& b) { return less(*a, *b); });
        } catch (const std::runtime_error&) {
        }
        expect_permutation(boxes, n);
        auto numbers = oracle::random_ints(n, static_cast<int>(n));
        try {
            algorithm(numbers, [&](int a, int b) { return less(a, b); });
        } catch (const std::runtime_error&) {
        }
        expect_permutation(numbers, n);
    };
    expect_kept(par::sort);
    expect_kept(par::stable_sort);
}

TEST(par_sort_safety, range_is_permutation_after_any_comparison_throws) {
    on_workers([] {
        for (int bad = 1; bad <= 300; bad += tests_are_slow ? 7 : 1) {
            std::atomic<int> calls{0};
            sort_all(60, [&](int a, int b) {
                if (++calls % 600 == bad) throw std::runtime_error("stop");
                return a < b;
            });
        }
        for (int bad = 301; bad < 200'000; bad += tests_are_slow ? 66'667 : 13'337) {
            std::atomic<int> calls{0};
            sort_all(10'000, [&](int a, int b) {
                if (++calls == bad) calls = 0, throw std::runtime_error("stop");
                return a < b;
            });
        }
    });
}

TEST(par_sort_safety, range_is_permutation_with_inconsistent_comparison) {
    on_workers([] {
        for (std::size_t n : {std::size_t{30}, std::size_t{500}, large(40'000)}) {
            std::atomic<unsigned> state{1};
            sort_all(n, [&](int, int) { return (state.fetch_add(0x9E3779B9u) >> 13) % 2 == 0; });
            sort_all(n, [](int a, int b) { return a <= b; });
            sort_all(n, [](int, int) { return true; });
            sort_all(n, [](int, int) { return false; });
            sort_all(n, [](int a, int b) { return (a + b) % 3 == 0; });
        }
    });
}

TEST(par_sort_safety, nan_is_kept) {
    on_workers([] {
        std::vector<double> values;
        for (int value : oracle::random_ints(20'000, 1000))
            values.push_back(value % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : value);
        const auto nans = std::ranges::count_if(values, [](double v) { return std::isnan(v); });
        par::sort(values, [](double a, double b) { return a < b; });
        EXPECT_EQ(std::ranges::count_if(values, [](double v) { return std::isnan(v); }), nans);
        par::stable_sort(values, [](double a, double b) { return a < b; });
        EXPECT_EQ(std::ranges::count_if(values, [](double v) { return std::isnan(v); }), nans);
    });
}

TEST(par_sort_safety, cancelled_sort_throws_and_keeps_elements) {
    on_workers([] {
        for (bool stable : {false, true}) {
            auto boxes = owned(20'000);
            bool threw = false;
            sennit::nursery jobs;
            jobs.start([&] {
                std::atomic<int> calls{0};
                const auto less = [&](const auto& a, const auto& b) {
                    if (++calls >= 30'000) jobs.cancel();
                    return *a < *b;
                };
                try {
                    stable ? par::stable_sort(boxes, less) : par::sort(boxes, less);
                } catch (const sennit::cancelled&) {
                    threw = true;
                }
            });
            jobs.join();
            EXPECT_TRUE(threw);
            expect_permutation(boxes, 20'000);
        }
    });
}

// A move that may throw selects the algorithm that needs no room.
struct may_throw {
    int key;
    int number;
    may_throw(int k, int n) : key(k), number(n) {}
    may_throw(may_throw&& other) noexcept(false) : key(other.key), number(other.number) {}
    may_throw& operator=(may_throw&& other) noexcept(false) {
        key = other.key;
        number = other.number;
        return *this;
    }
};

TEST(par_sort_safety, elements_whose_moves_may_throw_are_sorted_and_stable) {
    on_workers([] {
        for (std::size_t n : {std::size_t{2}, std::size_t{25}, std::size_t{20'000}}) {
            for (int keys : {1, 3, 1000}) {
                std::vector<may_throw> values;
                for (int key : oracle::random_ints(n, keys))
                    values.emplace_back(key, static_cast<int>(values.size()));
                const auto both = [](const may_throw& v) { return std::pair(v.key, v.number); };
                par::stable_sort(values, {}, &may_throw::key);
                EXPECT_TRUE(std::ranges::is_sorted(values, {}, both));
                par::sort(values, std::ranges::greater(), &may_throw::key);
                EXPECT_TRUE(
                    std::ranges::is_sorted(values, std::ranges::greater(), &may_throw::key));
            }
        }
    });
}

} // namespace
