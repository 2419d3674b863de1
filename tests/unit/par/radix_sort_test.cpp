// SPDX-License-Identifier: Apache-2.0
// Tests par::radix_sort and par::shuffle.
#include "oracle.hpp"

#include <sennit/nursery.hpp>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

namespace par = sennit::par;

// Numbers of all magnitudes and signs, or of few values.
template <class T>
std::vector<T> integers(std::size_t n, int kind) {
    std::mt19937_64 random(n * 5 + static_cast<std::size_t>(kind));
    std::vector<T> values(n);
    for (T& value : values) {
        const std::uint64_t any = random();
        switch (kind) {
        case 0:
            value = static_cast<T>(any);
            break;
        case 1:
            value = static_cast<T>(any % 3);
            break;
        case 2:
            value = static_cast<T>(any >> (any % 64));
            break;
        default:
            value = static_cast<T>(any % 100 == 0 ? any : 7);
            break;
        }
    }
    return values;
}

template <class T>
void expect_sorted_as_by_std(std::size_t n, std::initializer_list<int> kinds = {0, 1, 2, 3}) {
    for (int kind : kinds) {
        const auto values = integers<T>(n, kind);
        auto expected = values;
        std::ranges::sort(expected);
        auto sorted = values;
        EXPECT_EQ(par::radix_sort(sorted), sorted.end());
        EXPECT_EQ(sorted, expected);
    }
}

TEST(par_radix_sort, integers_of_all_types_are_sorted) {
    oracle::on_sizes([](std::size_t n) {
        expect_sorted_as_by_std<std::uint64_t>(n);
        expect_sorted_as_by_std<std::int64_t>(n, {0, 3});
        expect_sorted_as_by_std<int>(n);
        expect_sorted_as_by_std<std::int16_t>(n, {0});
        expect_sorted_as_by_std<unsigned char>(n, {0});
    });
}

// The elements exceed the cache, and so does the bucket of the small ones.
TEST(par_radix_sort, long_ranges_are_distributed_more_than_once) {
    for (int kind : {0, 2}) {
        if (tests_are_slow && kind == 2) break;
        const auto values = integers<std::int64_t>(300'000, kind);
        auto expected = values;
        std::ranges::sort(expected);
        on_workers([&] {
            auto sorted = values;
            EXPECT_EQ(par::radix_sort(sorted), sorted.end());
            EXPECT_EQ(sorted, expected);
        });
    }
}

struct pair_of_ints {
    int key;
    int number;
    bool operator==(const pair_of_ints&) const = default;
};

TEST(par_radix_sort, equal_keys_keep_their_order) {
    oracle::on_sizes([](std::size_t n) {
        for (int keys : {2, 1000}) {
            std::vector<pair_of_ints> values;
            for (int key : oracle::random_ints(n, keys))
                values.push_back({key - keys / 2, static_cast<int>(values.size())});
            auto expected = values;
            std::ranges::sort(expected, {},
                              [](const pair_of_ints& v) { return std::pair(v.key, v.number); });
            auto direct = values;
            par::radix_sort(direct, &pair_of_ints::key);
            EXPECT_EQ(direct, expected);
            std::deque<pair_of_ints> deque(values.begin(), values.end());
            par::radix_sort(deque, [](const pair_of_ints& v) { return v.key; });
            EXPECT_TRUE(std::ranges::equal(deque, expected));
        }
    });
}

TEST(par_radix_sort, projection_is_called_once_and_may_throw) {
    on_workers([] {
        for (int bad : {0, 1, 5000, 19'999}) {
            std::vector<std::unique_ptr<int>> boxes;
            for (int value : oracle::random_ints(20'000, 1000))
                boxes.push_back(std::make_unique<int>(value));
            std::vector<const int*> before;
            for (const auto& box : boxes) before.push_back(box.get());
            std::atomic<int> calls{0};
            const auto error = oracle::error_of([&] {
                // The check for a sorted range calls the projection for some elements, too.
                par::radix_sort({.max_grain = 100}, boxes, [&](const auto& box) {
                    if (++calls == bad) throw std::runtime_error("stop");
                    return *box;
                });
            });
            if (bad == 0) {
                EXPECT_EQ(error, "no exception");
                EXPECT_TRUE(std::ranges::is_sorted(boxes, {}, [](const auto& b) { return *b; }));
            } else {
                EXPECT_EQ(error, "stop");
                for (std::size_t i = 0; i < boxes.size(); ++i) ASSERT_EQ(boxes[i].get(), before[i]);
            }
        }
    });
}

TEST(par_radix_sort, cancelled_sort_throws_and_keeps_elements) {
    on_workers([] {
        auto values = integers<std::uint64_t>(large(300'000), 0);
        auto sorted = values;
        std::ranges::sort(sorted);
        bool threw = false;
        sennit::nursery jobs;
        jobs.start([&] {
            jobs.cancel();
            try {
                par::radix_sort(values);
            } catch (const sennit::cancelled&) {
                threw = true;
            }
        });
        jobs.join();
        EXPECT_TRUE(threw);
        std::ranges::sort(values);
        EXPECT_EQ(values, sorted);
    });
}

TEST(par_shuffle, order_depends_on_the_seed_and_not_on_the_workers) {
    for (std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{5000}, large(200'000)}) {
        std::vector<int> sorted(n);
        std::iota(sorted.begin(), sorted.end(), 0);
        std::vector<int> first;
        on_workers([&] {
            auto values = sorted;
            par::shuffle({.max_grain = 100}, values, 7);
            if (first.empty()) first = values;
            EXPECT_EQ(values, first);
            auto other = sorted;
            par::shuffle(other.begin(), other.end(), 8);
            EXPECT_EQ(other == values, n < 2);
            std::ranges::sort(values);
            EXPECT_EQ(values, sorted);
        });
    }
}

// Each of the 24 orders of 4 elements is 1/24 of all; each element of a long range is as likely in
// the first half as in the second one.
TEST(par_shuffle, orders_are_equally_likely) {
    sennit::runtime runtime({.workers = 2});
    runtime.run([] {
        std::map<std::vector<int>, int> seen;
        for (std::uint64_t seed = 0; seed < 24'000; ++seed) {
            std::vector<int> values{0, 1, 2, 3};
            par::shuffle(values, seed);
            ++seen[values];
        }
        EXPECT_EQ(seen.size(), 24u);
        for (const auto& [order, times] : seen) EXPECT_NEAR(times, 1000, 200);
        constexpr std::size_t n = 100'000;
        std::vector<int> values(n);
        std::iota(values.begin(), values.end(), 0);
        par::shuffle(values, 1);
        const auto low = std::ranges::count_if(values.begin(), values.begin() + n / 2,
                                               [](int v) { return v < int(n / 2); });
        EXPECT_NEAR(static_cast<double>(low), n / 4, 1000);
        std::size_t ascents = 0;
        for (std::size_t i = 1; i < n; ++i) ascents += values[i - 1] < values[i];
        EXPECT_NEAR(static_cast<double>(ascents), n / 2, 1000);
    });
}

TEST(par_shuffle, elements_may_be_movable_only) {
    on_workers([] {
        constexpr int n = large(100'000);
        std::vector<std::unique_ptr<int>> boxes;
        for (int i = 0; i < n; ++i) boxes.push_back(std::make_unique<int>(i));
        par::shuffle(boxes, 3);
        std::vector<int> left;
        for (const auto& box : boxes) left.push_back(*box);
        EXPECT_FALSE(std::ranges::is_sorted(left));
        std::ranges::sort(left);
        for (int i = 0; i < n; ++i) ASSERT_EQ(left[static_cast<std::size_t>(i)], i);
    });
}

} // namespace
