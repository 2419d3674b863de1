// SPDX-License-Identifier: Apache-2.0
// Tests stacks and their guards. tests/fault tests them on a system that refuses requests.
#include "sys/stack.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using sennit::sys::guard_kind, sennit::sys::stack, sennit::sys::stack_source,
    sennit::sys::touched_bytes;

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

std::size_t mappings() {
    std::ifstream file("/proc/self/maps");
    return static_cast<std::size_t>(
        std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
}

std::vector<stack> take(stack_source& source, std::size_t count) {
    std::vector<stack> taken;
    for (std::size_t i = 0; i < count; ++i) taken.push_back(source.take());
    return taken;
}

void give(stack_source& source, const std::vector<stack>& stacks) {
    for (const stack& one : stacks) source.give(one);
}

// Runs each test with the kernel's best guards, and once more as on a kernel that has only
// mprotect.
class stack_guards : public testing::TestWithParam<guard_kind> {
protected:
    void SetUp() override {
        if (GetParam() == guard_kind::mprotect)
            ::setenv("SENNIT_NO_MADV_GUARD", "1", 1);
        else if (stack_source(64 << 10).guards() != GetParam())
            GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
    }
    void TearDown() override { ::unsetenv("SENNIT_NO_MADV_GUARD"); }
};

INSTANTIATE_TEST_SUITE_P(, stack_guards, testing::Values(guard_kind::madvise, guard_kind::mprotect),
                         [](const auto& test) {
                             return test.param == guard_kind::madvise ? "madvise" : "mprotect";
                         });

TEST(stack_source, sizes_out_of_range_are_refused) {
    for (const std::size_t bad :
         {std::size_t{0}, std::size_t{1}, sennit::sys::min_stack_size - 1,
          sennit::sys::max_stack_size + 1, std::numeric_limits<std::size_t>::max()})
        EXPECT_THROW(stack_source{bad}, std::invalid_argument) << bad;
    try {
        stack_source source(1000);
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "sennit: [SNT-018] a stack size must be from 16 KiB to 1 GiB, not 1000 bytes");
    }
}

TEST(stack_source, sizes_are_rounded_up_to_pages) {
    EXPECT_EQ(stack_source(64 << 10).usable_size(), std::size_t{64} << 10);
    EXPECT_EQ(stack_source((256 << 10) + 1).usable_size(), (std::size_t{256} << 10) + page);
}

TEST(stack_source, smallest_and_largest_stacks_are_usable) {
    for (const std::size_t size : {sennit::sys::min_stack_size, sennit::sys::max_stack_size}) {
        stack_source source(size);
        const stack one = source.take();
        EXPECT_GE(static_cast<std::size_t>(one.high - one.low), size - page);
        EXPECT_LE(static_cast<std::size_t>(one.high - one.low), source.usable_size());
        one.low[0] = one.high[-1] = std::byte{1};
        source.give(one);
    }
}

TEST_P(stack_guards, guards_separate_stacks_and_leave_ends_writable) {
    stack_source source(16 << 10);
    EXPECT_EQ(source.guards(), GetParam());
    auto stacks = take(source, 200);
    EXPECT_EQ(source.live(), 200u);
    for (const stack& one : stacks) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.high) % sennit::sys::stack_alignment, 0u);
        one.low[0] = one.high[-1] = std::byte{1};
    }
    std::sort(stacks.begin(), stacks.end(),
              [](const stack& a, const stack& b) { return a.low < b.low; });
    for (std::size_t i = 1; i < stacks.size(); ++i)
        ASSERT_GE(stacks[i].low - stacks[i - 1].high,
                  static_cast<std::ptrdiff_t>(sennit::sys::guard_size));
    EXPECT_EQ(source.unguarded(), 0u);
    give(source, stacks);
}

TEST_P(stack_guards, guards_fault_anywhere_in_64_KiB_below_stack) {
    const auto touch_below = [](std::size_t distance) {
        stack_source source(64 << 10);
        const stack taken = source.take();
        *static_cast<volatile std::byte*>(taken.low) = std::byte{1}; // This write is allowed.
        *static_cast<volatile std::byte*>(taken.low - distance) = std::byte{1};
        source.give(taken);
    };
    for (const std::size_t distance : {std::size_t{1}, page + 1, sennit::sys::guard_size})
        EXPECT_DEATH(touch_below(distance), "");
}

TEST_P(stack_guards, guards_survive_return_and_trim) {
    const auto touch_below_after_trim = [] {
        stack_source source(64 << 10);
        source.give(source.take());
        source.trim();
        const stack taken = source.take();
        *static_cast<volatile std::byte*>(taken.low) = std::byte{1};
        *static_cast<volatile std::byte*>(taken.low - 1) = std::byte{1};
        source.give(taken);
    };
    EXPECT_DEATH(touch_below_after_trim(), "");
}

TEST_P(stack_guards, guards_of_ten_thousand_stacks_fit_under_limit_of_mappings) {
    const std::size_t before = mappings();
    stack_source source(16 << 10);
    const auto stacks = take(source, 10'000);
    for (const stack& one : stacks) one.high[-1] = std::byte{1};
    EXPECT_EQ(source.unguarded(), 0u);
    if (GetParam() == guard_kind::madvise) {
        EXPECT_LT(mappings(), before + 500) << "these guards split no mapping";
    } else {
        EXPECT_GT(mappings(), before + 10'000) << "each of these guards is a mapping";
    }
    give(source, stacks);
    EXPECT_EQ(source.cached(), 10'000u);
}

TEST(stack_source, source_leaves_half_of_all_mappings_and_counts_missing_guards) {
    std::size_t limit = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    const std::size_t guards = limit / 4; // Each guard needs two mappings.
    if (guards == 0 || guards > 50'000)
        GTEST_SKIP() << "a limit of " << limit << " mappings is too high to reach";
    ::setenv("SENNIT_NO_MADV_GUARD", "1", 1);
    // The second source gets the mappings that the first one returns.
    for (int round = 0; round < 2; ++round) {
        stack_source source(16 << 10);
        const auto stacks = take(source, guards + 100);
        EXPECT_GE(source.unguarded(), 100u);
        EXPECT_LE(source.unguarded(), 100u + stacks.size() / 64 + 5)
            << "one more guard is missing for each mapping";
        stack_source another(16 << 10);
        another.give(another.take());
        EXPECT_EQ(another.unguarded(), 2u) << "all sources share the limit";
        for (const stack& one : {stacks.front(), stacks.back()})
            one.low[0] = one.high[-1] = std::byte{1};
        give(source, stacks);
    }
    ::unsetenv("SENNIT_NO_MADV_GUARD");
}

TEST(stack_source, last_returned_stack_is_taken_first_with_its_pages) {
    stack_source source(64 << 10);
    const stack a = source.take(), b = source.take();
    a.low[0] = std::byte{6};
    b.low[0] = std::byte{7};
    source.give(a);
    source.give(b);
    EXPECT_EQ(source.live(), 0u);
    EXPECT_EQ(source.cached(), 2u);
    const stack first = source.take(), second = source.take();
    EXPECT_EQ(first.low, b.low);
    EXPECT_EQ(first.high, b.high);
    EXPECT_EQ(first.low[0], std::byte{7});
    EXPECT_EQ(second.low, a.low);
    EXPECT_EQ(second.low[0], std::byte{6});
    EXPECT_EQ(source.live(), 2u);
    EXPECT_EQ(source.cached(), 0u);
    give(source, {first, second});
}

TEST(stack_source, trim_returns_pages_of_idle_stacks_only) {
    stack_source source(64 << 10);
    const auto stacks = take(source, 20);
    for (const stack& one : stacks) std::fill(one.low, one.high, std::byte{5});
    for (std::size_t i = 1; i < stacks.size(); ++i) source.give(stacks[i]);
    source.trim();
    EXPECT_EQ(touched_bytes(stacks[0]), source.usable_size());
    EXPECT_EQ(stacks[0].low[0], std::byte{5});
    for (std::size_t i = 1; i < stacks.size(); ++i) EXPECT_EQ(touched_bytes(stacks[i]), 0u) << i;
    const stack again = source.take();
    EXPECT_TRUE(std::all_of(again.low, again.high, [](std::byte b) { return b == std::byte{0}; }));
    give(source, {again, stacks[0]});
}

TEST(touched_bytes, touched_bytes_counts_written_pages) {
    stack_source source(1 << 20);
    const stack one = source.take();
    EXPECT_EQ(touched_bytes(one), 0u);
    one.high[-1] = std::byte{1};
    EXPECT_EQ(touched_bytes(one), page);
    for (std::size_t i = 1; i <= 10; ++i) *(one.high - i * page) = std::byte{1};
    EXPECT_GE(touched_bytes(one), 10 * page);
    EXPECT_LE(touched_bytes(one), 11 * page);
    source.give(one);
}

TEST(stack_source, many_threads_use_one_source) {
    stack_source source(16 << 10);
    std::vector<std::thread> users;
    for (int t = 0; t < 4; ++t)
        users.emplace_back([&source, t] {
            for (int round = 0; round < 500; ++round) {
                const auto held = take(source, 5);
                for (const stack& one : held) one.high[-1] = static_cast<std::byte>(t);
                for (const stack& one : held) EXPECT_EQ(one.high[-1], static_cast<std::byte>(t));
                give(source, held);
            }
        });
    for (auto& one : users) one.join();
    EXPECT_EQ(source.live(), 0u);
    EXPECT_LE(source.cached(), 20u);
}

TEST(stack_source_death_test, source_with_used_stacks_cannot_be_destroyed) {
    EXPECT_DEATH(
        {
            stack_source source(16 << 10);
            source.take();
        },
        "sennit: \\[SNT-901\\] stacks are still in use while their memory is freed");
}

} // namespace
