// SPDX-License-Identifier: Apache-2.0
// Stacks, guards, the environment, and the small services of the ground.
#include "sys/clock.hpp"
#include "sys/environment.hpp"
#include "sys/futex.hpp"
#include "sys/membarrier.hpp"
#include "sys/overflow.hpp"
#include "sys/stack.hpp"
#include "sys/thread.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

namespace {

using sennit::sys::stack_source;

TEST(stack_source, refuses_sizes_out_of_range) {
    EXPECT_THROW(stack_source(1000), std::invalid_argument);
    EXPECT_THROW(stack_source(std::size_t{2} << 30), std::invalid_argument);
    EXPECT_NO_THROW(stack_source(16 << 10));
}

TEST(stack_source, hands_the_last_stack_back_first_with_its_pages) {
    stack_source source(64 << 10);
    auto a = source.take(), b = source.take();
    EXPECT_NE(a.low, b.low);
    EXPECT_GE(a.high - a.low, (64 << 10) - 4096);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.high) % 64, 0u);
    b.low[0] = std::byte{7};
    EXPECT_GE(sennit::sys::touched_bytes(b), 4096u);
    source.give(b);
    auto again = source.take();
    EXPECT_EQ(again.low, b.low);
    EXPECT_EQ(again.low[0], std::byte{7});
    source.give(again);
    source.trim();
    again = source.take();
    EXPECT_EQ(again.low[0], std::byte{0}) << "trimmed pages come back empty";
    EXPECT_EQ(source.live(), 2u);
    source.give(a), source.give(again);
    EXPECT_EQ(source.live(), 0u);
    EXPECT_EQ(source.cached(), 2u);
}

TEST(stack_source, keeps_thousands_of_guarded_stacks_apart) {
    stack_source source(16 << 10);
    std::vector<sennit::sys::stack> stacks;
    std::set<std::byte*> lows;
    for (int i = 0; i < 5000; ++i) {
        stacks.push_back(source.take());
        stacks.back().low[0] = std::byte{1};
        stacks.back().high[-1] = std::byte{1};
        lows.insert(stacks.back().low);
    }
    EXPECT_EQ(lows.size(), 5000u);
    EXPECT_EQ(source.unguarded(), 0u);
    for (auto& one : stacks) source.give(one);
}

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
TEST(stack_guard_death_test, faults_below_the_stack_with_either_kind_of_guard) {
    const auto touch_below = [] {
        stack_source source(64 << 10);
        const auto taken = source.take();
        *static_cast<volatile std::byte*>(taken.low - 1) = std::byte{1};
        source.give(taken);
    };
    EXPECT_DEATH(touch_below(), "");
    ::setenv("SENNIT_NO_MADV_GUARD", "1", 1);
    EXPECT_EQ(stack_source(64 << 10).guards(), sennit::sys::guard_kind::mprotect);
    EXPECT_DEATH(touch_below(), "");
    ::unsetenv("SENNIT_NO_MADV_GUARD");
}
#endif

TEST(environment, parses_numbers_and_sizes_strictly) {
    using sennit::sys::parse_count, sennit::sys::parse_size;
    EXPECT_EQ(parse_count("12"), 12u);
    for (const char* bad : {"", "abc", "1a", "-1", "+1", " 1", "1 ", "18446744073709551616", "0x10"})
        EXPECT_EQ(parse_count(bad), std::nullopt) << bad;
    EXPECT_EQ(parse_size("64k"), 65536u);
    EXPECT_EQ(parse_size("2M"), 2u << 20);
    EXPECT_EQ(parse_size("1G"), 1u << 30);
    for (const char* bad : {"K", "", "1T", "99999999999999999G"}) EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
}

TEST(futex, returns_on_mismatch_wake_and_deadline) {
    sennit::base::atomic<std::uint32_t> word{1};
    sennit::sys::futex_wait(word, 0); // mismatch: at once
    EXPECT_FALSE(sennit::sys::futex_wait_until(word, 1, sennit::sys::now_ns() + 1'000'000));
    std::thread sleeper([&] {
        while (word.load() == 1) sennit::sys::futex_wait(word, 1);
    });
    word.store(2);
    sennit::sys::futex_wake(word, 1);
    sleeper.join();
}

TEST(membarrier, passes_when_it_says_it_can) {
    if (!sennit::sys::barrier_available()) GTEST_SKIP() << "the kernel has no private expedited barrier";
    for (int i = 0; i < 100; ++i) sennit::sys::barrier_all_threads();
}

TEST(pinning, says_why_it_was_refused) {
    const auto error = sennit::sys::pin_this_thread(100'000);
    EXPECT_TRUE(error);
}

TEST(thread, runs_its_entry_and_is_joined) {
    int ran = 0;
    sennit::sys::thread one([](void* argument) noexcept { *static_cast<int*>(argument) = 1; }, &ran);
    sennit::sys::thread other = std::move(one);
    EXPECT_FALSE(one.joinable());
    other.join();
    EXPECT_EQ(ran, 1);
}

} // namespace
