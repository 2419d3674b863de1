// SPDX-License-Identifier: Apache-2.0
// Tests par::stable_partition and the copies of selected elements against their serial forms.
#include "oracle.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>

namespace {

namespace par = sennit::par;

constexpr int value_bounds[] = {1, 2, 3, 1000};

TEST(par_stable_partition, result_is_that_of_the_serial_form) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : value_bounds) {
            const auto values = oracle::random_ints(n, bound);
            const auto small = [bound](int v) { return 2 * v < bound; };
            // std::stable_partition of libstdc++ calls a function that clang refuses as deprecated.
            std::vector<int> expected;
            std::ranges::copy_if(values, std::back_inserter(expected), small);
            std::ranges::remove_copy_if(values, std::back_inserter(expected), small);
            oracle::as_ranges(values, [&](auto&& range) {
                const auto other = par::stable_partition(range, small);
                EXPECT_EQ(other.end(), std::ranges::end(range));
                EXPECT_EQ(other.begin() - std::ranges::begin(range),
                          std::ranges::count_if(values, small));
                EXPECT_TRUE(std::ranges::equal(range, expected));
            });
        }
    });
}

TEST(par_stable_partition, pieces_of_several_workers_are_joined) {
    on_workers([] {
        std::vector<std::unique_ptr<int>> boxes;
        for (int i = 0; i < 3000; ++i) boxes.push_back(std::make_unique<int>(i));
        const auto other = par::stable_partition({.max_grain = 7}, boxes, [](const auto& box) {
            oracle::yield_at(static_cast<std::size_t>(*box));
            return *box % 3 == 0;
        });
        ASSERT_EQ(other.begin() - boxes.begin(), 1000);
        for (int i = 0; i < 1000; ++i) EXPECT_EQ(*boxes[static_cast<std::size_t>(i)], 3 * i);
        for (int i = 0; i < 2000; ++i) EXPECT_EQ(*other[i], i / 2 * 3 + 1 + i % 2);
    });
}

TEST(par_stable_partition, exception_at_any_call_keeps_all_elements) {
    on_workers([] {
        for (int bad = 1; bad < 6000; bad += bad >= 50 ? 777 : tests_are_slow ? 7 : 1) {
            std::vector<std::unique_ptr<int>> boxes;
            for (int i = 0; i < 5000; ++i) boxes.push_back(std::make_unique<int>(i));
            auto numbers = oracle::random_ints(5000, 5000);
            auto sorted = numbers;
            std::ranges::sort(sorted);
            std::atomic<int> calls{0};
            const auto test = [&](int v) {
                if (++calls == bad) throw std::runtime_error("stop");
                return v % 2 == 0;
            };
            const auto boxed = [&](const auto& box) { return test(*box); };
            const bool throws = bad <= 5000;
            EXPECT_EQ(oracle::error_of([&] {
                          par::stable_partition({.max_grain = 16}, boxes, boxed);
                      }) == "stop",
                      throws);
            std::vector<int> left;
            for (const auto& box : boxes) left.push_back(box ? *box : -1);
            std::ranges::sort(left);
            for (int i = 0; i < 5000; ++i) ASSERT_EQ(left[static_cast<std::size_t>(i)], i);
            calls = 0;
            EXPECT_EQ(oracle::error_of([&] {
                          par::stable_partition({.max_grain = 16}, numbers, test);
                      }) == "stop",
                      throws);
            std::ranges::sort(numbers);
            EXPECT_EQ(numbers, sorted);
        }
    });
}

TEST(par_stable_partition, elements_whose_moves_may_throw_need_no_room) {
    on_workers([] {
        std::vector<oracle::throwing_move> values;
        for (int i = 0; i < 5000; ++i) values.emplace_back(i);
        const auto other = par::stable_partition(
            values, [](int v) { return v % 5 == 0; }, &oracle::throwing_move::number);
        EXPECT_EQ(std::ssize(other), 4000);
        for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(values[i].number, static_cast<int>(5 * i));
        EXPECT_TRUE(std::ranges::is_sorted(other, {}, &oracle::throwing_move::number));
    });
}

TEST(par_copies, selected_elements_are_those_of_the_serial_forms) {
    oracle::on_sizes([](std::size_t n) {
        for (int bound : value_bounds) {
            const auto values = oracle::random_ints(n, bound);
            const auto odd = [](int v) { return v % 2 != 0; };
            oracle::as_ranges(values, [&](auto&& range) {
                const auto expect = [&](const auto& parallel, const auto& serial) {
                    std::vector<int> expected;
                    serial(std::back_inserter(expected));
                    std::vector<int> out(expected.size() + 3, -1);
                    const auto result = parallel(out);
                    EXPECT_EQ(result.in, range.end());
                    EXPECT_EQ(result.out - out.begin(), std::ssize(expected));
                    EXPECT_EQ(std::ranges::count(out, -1), 3);
                    out.resize(expected.size());
                    EXPECT_EQ(out, expected);
                };
                expect([&](auto& out) { return par::remove_copy_if(range, out, odd); },
                       [&](auto out) { std::ranges::remove_copy_if(range, out, odd); });
                expect([&](auto& out) { return par::remove_copy(range, out, 1); },
                       [&](auto out) { std::ranges::remove_copy(range, out, 1); });
                expect([&](auto& out) { return par::unique_copy({.max_grain = 70}, range, out); },
                       [&](auto out) { std::ranges::unique_copy(range, out); });
            });
        }
    });
}

TEST(par_copies, full_output_ends_at_first_group_that_does_not_fit) {
    on_workers([] {
        std::vector<int> values;
        for (int i = 0; i < 3000; ++i) values.push_back(i / 3);
        std::vector<int> out(100, -1);
        const auto result = par::unique_copy({.max_grain = 7}, values, out, [](int a, int b) {
            oracle::yield_at(static_cast<std::size_t>(a));
            return a == b;
        });
        EXPECT_EQ(result.in - values.begin(), 300);
        EXPECT_EQ(out.back(), 99);
    });
}

} // namespace
