// SPDX-License-Identifier: Apache-2.0
// Tests futex waits and wakes.
#include "sys/futex.hpp"

#include "sys/clock.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <new>
#include <thread>
#include <vector>

namespace {

using sennit::base::atomic;
using sennit::sys::futex_wait, sennit::sys::futex_wait_until, sennit::sys::futex_wake,
    sennit::sys::now_ns;

constexpr int all = std::numeric_limits<int>::max();

TEST(futex_wait, wait_returns_immediately_if_word_holds_other_value) {
    atomic<std::uint32_t> word{1};
    errno = 7;
    futex_wait(word, 0);
    EXPECT_TRUE(futex_wait_until(word, 0, std::numeric_limits<std::int64_t>::max()));
    EXPECT_EQ(errno, 7) << "errno belongs to the caller";
}

TEST(futex_wait_until, wait_returns_false_after_deadline) {
    atomic<std::uint32_t> word{1};
    const std::int64_t deadline = now_ns() + 2'000'000;
    errno = 7;
    while (futex_wait_until(word, 1, deadline)) { // A signal may end a wait early.
    }
    EXPECT_GE(now_ns(), deadline) << "no wait times out before its deadline";
    EXPECT_EQ(errno, 7);
}

TEST(futex_wait_until, wait_accepts_deadlines_far_in_past) {
    atomic<std::uint32_t> word{1};
    for (const std::int64_t past : {now_ns() - 1, std::int64_t{0}, std::int64_t{-1},
                                    std::numeric_limits<std::int64_t>::min()})
        while (futex_wait_until(word, 1, past)) {
        }
}

TEST(futex_wake, wake_reaches_every_racing_sleeper) {
    for (int round = 0; round < 100; ++round) {
        atomic<std::uint32_t> word{0};
        std::vector<std::thread> sleepers;
        for (int i = 0; i < 4; ++i)
            sleepers.emplace_back([&word, i] {
                while (word.load() == 0)
                    if (i % 2 == 0)
                        futex_wait(word, 0);
                    else
                        futex_wait_until(word, 0, std::numeric_limits<std::int64_t>::max());
            });
        if (round % 2 == 0) std::this_thread::yield();
        word.store(1);
        errno = 7;
        futex_wake(word, all);
        EXPECT_EQ(errno, 7);
        for (auto& one : sleepers) one.join();
    }
}

TEST(futex_wake, single_wakes_pass_token_along_chain) {
    atomic<std::uint32_t> word{0};
    constexpr std::uint32_t rounds = 200;
    const auto take_turns = [&word](std::uint32_t parity) {
        for (std::uint32_t turn = word.load(); turn < rounds; turn = word.load()) {
            if (turn % 2 != parity) {
                futex_wait(word, turn);
                continue;
            }
            word.store(turn + 1);
            futex_wake(word, 1);
        }
    };
    std::thread other(take_turns, 1u);
    take_turns(0u);
    other.join();
    EXPECT_EQ(word.load(), rounds);
}

TEST(futex_wake, wake_is_harmless_after_memory_of_word_is_unmapped) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory =
        ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    const auto& word = *::new (memory) atomic<std::uint32_t>(0);
    ASSERT_EQ(::munmap(memory, page), 0);
    errno = 7;
    futex_wake(word, 1);
    EXPECT_EQ(errno, 7);
}

} // namespace
