// SPDX-License-Identifier: Apache-2.0
// Tests chunk_sizer, which chooses the number of elements of the next chunk of a parallel loop.
#include <sennit/par/detail/chunk_sizer.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace {

using sennit::par::grain;
using sennit::par::with;
using sennit::par::detail::chunk_sizer;
using sennit::par::detail::round_up;

TEST(par_chunk_sizer, first_chunk_is_one_element_or_one_grain) {
    EXPECT_EQ(chunk_sizer(grain{}).next_end(0, 1'000'000), 1u);
    EXPECT_EQ(chunk_sizer(grain{100}).next_end(0, 1'000'000), 100u);
    EXPECT_EQ(chunk_sizer(grain{100}).next_end(0, 99), 99u);
    EXPECT_EQ(chunk_sizer(grain{100}).next_end(100, 150), 150u);
}

TEST(par_chunk_sizer, every_chunk_advances_and_ends_within_range) {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    for (std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{3}, most}) {
        for (std::size_t last : {std::size_t{1}, std::size_t{100}, most}) {
            chunk_sizer steps(grain{elements});
            std::size_t first = 0;
            for (int piece = 0; piece < 1000 && first < last; ++piece) {
                const std::size_t end = steps.next_end(first, last);
                ASSERT_GT(end, first);
                ASSERT_LE(end, last);
                steps.note_chunk(end - first);
                first = end;
            }
        }
    }
}

TEST(par_chunk_sizer, chunk_of_cheap_elements_leaves_most_of_long_range) {
    chunk_sizer steps(grain{});
    for (int i = 0; i < 20; ++i) steps.note_chunk(1'000'000); // Much faster than any real loop.
    EXPECT_LE(steps.next_end(0, std::size_t{1} << 40), std::size_t{1} << 36);
}

TEST(par_chunk_sizer, grain_makes_no_chunk_shorter) {
    chunk_sizer steps(grain{64});
    // This element is expensive: its time asks for at most 16 elements in the next chunk.
    steps.note_chunk(1);
    EXPECT_EQ(steps.next_end(0, 1'000'000), 64u);
    // These elements are cheap: the next chunk is longer than the grain.
    for (int i = 0; i < 20; ++i) steps.note_chunk(1'000'000);
    EXPECT_GT(steps.next_end(0, std::size_t{1} << 40), 64u);
}

TEST(par_chunk_sizer, no_chunk_is_longer_than_max_grain) {
    for (std::size_t most : {std::size_t{1}, std::size_t{3}, std::size_t{100}, std::size_t{200}}) {
        chunk_sizer steps(with{.max_grain = most});
        std::size_t first = 0;
        for (int piece = 0; piece < 1000; ++piece) {
            const std::size_t end = steps.next_end(first, std::size_t{1} << 40);
            ASSERT_GT(end, first);
            ASSERT_LE(end - first, most);
            steps.note_chunk(1'000'000); // much faster than any real loop
            first = end;
        }
    }
    // The larger of the two bounds counts.
    EXPECT_EQ(chunk_sizer(with{.min_grain = 64, .max_grain = 8}).next_end(0, 1'000'000), 64u);
}

TEST(par_chunk_sizer, chunks_begin_at_multiples_of_grain) {
    chunk_sizer steps(grain{37});
    std::size_t first = 0;
    for (int piece = 0; piece < 100; ++piece) {
        first = steps.next_end(first, std::size_t{1} << 40);
        ASSERT_EQ(first % 37, 0u);
        steps.note_chunk(1000);
    }
}

TEST(par_chunk_sizer, round_up_stays_within_limit) {
    EXPECT_EQ(round_up(0, 64, 1000), 0u);
    EXPECT_EQ(round_up(1, 64, 1000), 64u);
    EXPECT_EQ(round_up(64, 64, 1000), 64u);
    EXPECT_EQ(round_up(961, 64, 1000), 1000u);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(round_up(most - 1, 64, most), most);
}

} // namespace
