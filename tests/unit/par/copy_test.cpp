// SPDX-License-Identifier: Apache-2.0
// Tests par::copy, copy_n, move and reverse_copy against their serial forms.
#include "oracle.hpp"

#include <memory>
#include <stdexcept>

namespace {

namespace par = sennit::par;

TEST(par_copy, copies_all_elements_of_any_range) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        oracle::as_ranges(values, [&](auto&& range) {
            std::vector<int> out(n);
            const auto result = par::copy(range, out);
            EXPECT_EQ(result.in, range.end());
            EXPECT_EQ(result.out, out.end());
            EXPECT_EQ(out, values);
            std::vector<int> some(n + 2, -1);
            par::copy_n(range.begin(), std::ranges::range_difference_t<decltype(range)>(n),
                        some.begin() + 1);
            EXPECT_TRUE(std::ranges::equal(values, std::span(some).subspan(1, n)));
            EXPECT_EQ(some.front() + some.back(), -2);
        });
    });
}

TEST(par_copy, reverse_copy_copies_last_elements_backwards) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        oracle::as_ranges(values, [&](auto&& range) {
            for (std::size_t room : {n, n / 2, n + 5}) {
                const std::size_t count = std::min(room, n);
                std::vector<int> out(room, -1);
                const auto result = par::reverse_copy(range, out);
                const auto difference = static_cast<std::ptrdiff_t>(count);
                EXPECT_EQ(result.in1, range.end());
                EXPECT_EQ(range.end() - result.in2, difference);
                EXPECT_EQ(result.out - out.begin(), difference);
                EXPECT_TRUE(std::equal(values.rbegin(), values.rbegin() + difference, out.begin()));
                EXPECT_EQ(std::count(out.begin() + difference, out.end(), -1),
                          static_cast<std::ptrdiff_t>(room - count));
            }
        });
    });
}

TEST(par_copy, output_beyond_bound_stays_untouched) {
    on_workers([] {
        const auto values = oracle::random_ints(5000, 1000);
        std::vector<int> out(5000, -1);
        const auto result = par::copy(values, std::span(out).first(123));
        EXPECT_EQ(result.in - values.begin(), 123);
        EXPECT_EQ(std::count(out.begin() + 123, out.end(), -1), 5000 - 123);
        par::copy_n(values.begin(), -1, out.begin());
        EXPECT_EQ(std::count(out.begin() + 123, out.end(), -1), 5000 - 123);
    });
}

TEST(par_copy, move_takes_move_only_elements) {
    on_workers([] {
        std::vector<std::unique_ptr<int>> from;
        for (int i = 0; i < 3000; ++i) from.push_back(std::make_unique<int>(i));
        std::vector<std::unique_ptr<int>> to(3000);
        par::move(from, to);
        for (int i = 0; i < 3000; ++i) {
            ASSERT_EQ(*to[static_cast<std::size_t>(i)], i);
            ASSERT_EQ(from[static_cast<std::size_t>(i)], nullptr);
        }
    });
}

struct copy_that_throws {
    int value = 0;
    copy_that_throws() = default;
    copy_that_throws(const copy_that_throws&) = default;
    copy_that_throws& operator=(const copy_that_throws& other) {
        if (other.value >= 700) throw std::runtime_error(std::to_string(other.value));
        value = other.value;
        return *this;
    }
};

TEST(par_copy, exception_of_lowest_element_is_reported) {
    on_workers([] {
        std::vector<copy_that_throws> from(3000);
        for (int i = 0; i < 3000; ++i) from[static_cast<std::size_t>(i)].value = i;
        std::vector<copy_that_throws> to(3000);
        EXPECT_EQ(oracle::error_of([&] { par::copy(from, to); }), "700");
        for (int i = 0; i < 700; ++i) ASSERT_EQ(to[static_cast<std::size_t>(i)].value, i);
    });
}

TEST(par_copy, result_of_temporary_range_is_dangling) {
    std::vector<int> out(3);
    auto result = par::copy(std::vector{1, 2, 3}, out);
    static_assert(std::same_as<decltype(result.in), std::ranges::dangling>);
    EXPECT_EQ(out, (std::vector{1, 2, 3}));
}

} // namespace
