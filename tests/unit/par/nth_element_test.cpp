// SPDX-License-Identifier: Apache-2.0
// Tests par::nth_element, par::partial_sort and par::inplace_merge against their serial forms.
#include "oracle.hpp"

#include <sennit/nursery.hpp>

#include <atomic>
#include <functional>
#include <stdexcept>

namespace {

namespace par = sennit::par;

std::vector<std::vector<int>> inputs(std::size_t n) {
    auto ascending = oracle::random_ints(n, 1000);
    std::ranges::sort(ascending);
    const std::vector<int> descending(ascending.rbegin(), ascending.rend());
    return {oracle::random_ints(n, 1'000'000), oracle::random_ints(n, 2), std::vector<int>(n, 7),
            ascending, descending};
}

TEST(par_nth_element, separates_range_at_any_place) {
    oracle::on_sizes([](std::size_t n) {
        for (const auto& values : inputs(n)) {
            auto sorted = values;
            std::ranges::sort(sorted);
            for (std::size_t place : {std::size_t{0}, n / 3, n / 2, n - (n > 0), n}) {
                auto found = values;
                const auto at = found.begin() + static_cast<std::ptrdiff_t>(place);
                EXPECT_EQ(par::nth_element(found, at), found.end());
                if (place == n) continue;
                EXPECT_EQ(*at, sorted[place]);
                EXPECT_TRUE(std::all_of(found.begin(), at, [at](int v) { return v <= *at; }));
                EXPECT_TRUE(std::all_of(at, found.end(), [at](int v) { return v >= *at; }));
                std::ranges::sort(found);
                EXPECT_EQ(found, sorted);
            }
        }
    });
}

TEST(par_partial_sort, sorts_smallest_elements_to_the_front) {
    oracle::on_sizes([](std::size_t n) {
        for (const auto& values : inputs(n)) {
            auto sorted = values;
            std::ranges::sort(sorted, std::ranges::greater());
            for (std::size_t count : {std::size_t{0}, n / 10, n}) {
                auto found = values;
                const auto middle = found.begin() + static_cast<std::ptrdiff_t>(count);
                EXPECT_EQ(
                    par::partial_sort(found.begin(), middle, found.end(), std::ranges::greater()),
                    found.end());
                EXPECT_TRUE(std::equal(found.begin(), middle, sorted.begin()));
                std::ranges::sort(found, std::ranges::greater());
                EXPECT_EQ(found, sorted);
            }
        }
    });
}

TEST(par_nth_element, range_is_permutation_after_any_comparison) {
    on_workers([] {
        const auto values = oracle::random_ints(5000, 5000);
        auto sorted = values;
        std::ranges::sort(sorted);
        for (int bad : {1, 100, 4000, 9000}) {
            std::atomic<int> calls{0};
            auto found = values;
            try {
                par::nth_element({.max_grain = 64}, found, found.begin() + 2500, [&](int a, int b) {
                    if (++calls == bad) throw std::runtime_error("stop");
                    return a < b;
                });
            } catch (const std::runtime_error&) {
            }
            std::ranges::sort(found);
            EXPECT_EQ(found, sorted);
        }
        for (bool answer : {false, true}) { // no order at all
            auto found = values;
            par::nth_element(found, found.begin() + 100, [answer](int, int) { return answer; });
            par::partial_sort(found, found.begin() + 100, [answer](int, int) { return answer; });
            std::ranges::sort(found);
            EXPECT_EQ(found, sorted);
        }
    });
}

TEST(par_inplace_merge, merges_runs_of_any_lengths_and_is_stable) {
    oracle::on_sizes([](std::size_t n) {
        for (std::size_t middle : {std::size_t{0}, n / 5, n / 2, n}) {
            std::vector<std::pair<int, std::size_t>> values;
            for (int key : oracle::random_ints(n, 50)) values.emplace_back(key, values.size());
            // Sorted by key and number, equal keys are in the order of a stable merge.
            const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
            std::sort(values.begin(), at);
            std::sort(at, values.end());
            auto expected = values;
            std::ranges::sort(expected);
            EXPECT_EQ(par::inplace_merge(values, at, std::ranges::less(),
                                         &std::pair<int, std::size_t>::first),
                      values.end());
            EXPECT_EQ(values, expected);
        }
    });
}

TEST(par_inplace_merge, exception_keeps_all_elements) {
    on_workers([] {
        auto values = oracle::random_ints(60'000, 1000);
        auto sorted = values;
        std::ranges::sort(sorted);
        std::sort(values.begin(), values.begin() + 30'000);
        std::sort(values.begin() + 30'000, values.end());
        std::atomic<int> calls{0};
        EXPECT_THROW(par::inplace_merge(values, values.begin() + 30'000,
                                        [&](int a, int b) {
                                            if (++calls == 20'000) throw std::runtime_error("stop");
                                            return a < b;
                                        }),
                     std::runtime_error);
        std::ranges::sort(values);
        EXPECT_EQ(values, sorted);
    });
}

// One worker merges short runs: from the front, or from the back if the second run is the shorter
// one, with and without branches.
template <class Make>
void throw_at_each_comparison(std::size_t n, std::size_t middle, const Make& make) {
    std::vector<decltype(make(0))> values;
    for (int number : oracle::random_ints(n, 1000)) values.push_back(make(number));
    const auto place = static_cast<std::ptrdiff_t>(middle);
    std::sort(values.begin(), values.begin() + place);
    std::sort(values.begin() + place, values.end());
    auto sorted = values;
    std::ranges::sort(sorted);
    for (std::size_t bad = 1;; ++bad) {
        auto found = values;
        std::size_t calls = 0;
        bool thrown = false;
        try {
            par::inplace_merge(found, found.begin() + place, [&](const auto& a, const auto& b) {
                if (++calls == bad) throw std::runtime_error("stop");
                return a < b;
            });
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        if (!thrown) {
            EXPECT_GT(bad, std::min(middle, n - middle));
            EXPECT_EQ(found, sorted);
            return;
        }
        std::ranges::sort(found);
        ASSERT_EQ(found, sorted) << "comparison " << bad << " of a merge at " << middle;
    }
}

TEST(par_inplace_merge, elements_survive_an_exception_at_each_comparison) {
    for (std::size_t middle : {20u, 100u, 150u, 200u, 280u}) {
        throw_at_each_comparison(300, middle, [](int number) { return number; });
        throw_at_each_comparison(300, middle, [](int number) { return std::to_string(number); });
    }
}

TEST(par_inplace_merge, elements_in_place_are_not_moved) {
    struct counted {
        explicit counted(int number) : value(number) {}
        counted(counted&& other) noexcept : value(other.value), moves(other.moves + 1) {}
        counted& operator=(counted&& other) noexcept {
            value = other.value;
            moves = other.moves + 1;
            return *this;
        }
        int value;
        int moves = 0;
    };
    std::vector<counted> values;
    values.reserve(2000);
    for (int i = 0; i != 1000; ++i) values.emplace_back(i);
    for (int i = 0; i != 1000; ++i) values.emplace_back(995 + i);
    par::inplace_merge(values, values.begin() + 1000, {}, &counted::value);
    EXPECT_TRUE(std::ranges::is_sorted(values, {}, &counted::value));
    EXPECT_LE(std::ranges::count_if(values, [](const counted& c) { return c.moves != 0; }), 10);
}

// Elements whose move may throw are merged without room.
TEST(par_inplace_merge, elements_with_throwing_moves_are_merged) {
    struct careful {
        explicit careful(int number) : value(number) {}
        careful(const careful&) = default;
        careful& operator=(const careful&) = default;
        careful(careful&& other) noexcept(false) : value(other.value) {}
        careful& operator=(careful&& other) noexcept(false) {
            value = other.value;
            return *this;
        }
        int value;
    };
    on_workers([] {
        std::vector<careful> values;
        for (int i = 0; i < 2000; ++i) values.emplace_back(i % 1000);
        par::inplace_merge(values, values.begin() + 1000, {}, &careful::value);
        EXPECT_TRUE(std::ranges::is_sorted(values, {}, &careful::value));
    });
}

TEST(par_nth_element, is_cancelled) {
    on_workers([] {
        auto values = oracle::random_ints(100'000, 100'000);
        sennit::nursery children;
        children.start([&] {
            EXPECT_THROW(par::nth_element(values, values.begin() + 50'000,
                                          [&](int a, int b) {
                                              children.cancel();
                                              return a < b;
                                          }),
                         sennit::cancelled);
        });
        children.join();
    });
}

} // namespace
