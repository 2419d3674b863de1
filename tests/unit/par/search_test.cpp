// SPDX-License-Identifier: Apache-2.0
// Tests par::search, find_end and find_first_of against their serial forms.
#include "oracle.hpp"

namespace {

namespace par = sennit::par;

template <class R, class Expected>
void expect_part(const R& range, const Expected& found, const Expected& expected) {
    EXPECT_EQ(found.begin() - range.begin(), expected.begin() - range.begin());
    EXPECT_EQ(found.end() - range.begin(), expected.end() - range.begin());
}

TEST(par_search, finds_first_and_last_match_across_edges_of_chunks) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 3);
        for (std::size_t length : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
            for (std::size_t place : {std::size_t{0}, n / 3, n / 2, n}) {
                // A sequence that stands at `place`, or nowhere.
                std::vector<int> needle(length, 9);
                if (place + length <= n)
                    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(place), length,
                                needle.begin());
                oracle::as_ranges(values, [&](auto&& range) {
                    expect_part(range, par::search(range, needle),
                                std::ranges::search(range, needle));
                    expect_part(range, par::find_end(range, needle),
                                std::ranges::find_end(range, needle));
                });
            }
        }
    });
}

TEST(par_search, finds_sequence_whose_first_element_is_rare_or_common) {
    on_workers([] {
        auto values = oracle::random_ints(20'000, 1000);
        for (std::size_t i = 4000; i < 9000; ++i) values[i] = 7; // common there
        const std::vector<int> needle{7, 7, -1};
        EXPECT_EQ(par::search(values, needle).begin(), values.end());
        for (std::size_t place : {19'997u, 8'998u, 6'000u, 31u, 0u}) {
            std::ranges::copy(needle, values.begin() + static_cast<std::ptrdiff_t>(place));
            expect_part(values, par::search(values, needle), std::ranges::search(values, needle));
        }
    });
}

TEST(par_search, search_with_needle_longer_than_haystack_or_empty) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 3);
        const std::vector<int> longer(n + 1, 1);
        const std::vector<int> empty;
        expect_part(values, par::search(values, longer), std::ranges::search(values, longer));
        expect_part(values, par::search(values, empty), std::ranges::search(values, empty));
        expect_part(values, par::find_end(values, longer), std::ranges::find_end(values, longer));
        expect_part(values, par::find_end(values, empty), std::ranges::find_end(values, empty));
        expect_part(values, par::search(values, values), std::ranges::search(values, values));
    });
}

TEST(par_find_first_of, finds_first_of_several_and_stops) {
    oracle::on_sizes([](std::size_t n) {
        std::vector<int> values(n, 1);
        if (n > 2) values[n / 2] = 5;
        if (n > 4) values[n - 1] = 6;
        for (const auto& wanted : {std::vector<int>{}, std::vector{6, 5}, std::vector{7}})
            EXPECT_EQ(par::find_first_of(values, wanted),
                      std::ranges::find_first_of(values, wanted));
    });
}

} // namespace
