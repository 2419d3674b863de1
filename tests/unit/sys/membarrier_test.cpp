// SPDX-License-Identifier: Apache-2.0
#include "sys/membarrier.hpp"

#include "child_process.hpp"
#include "sennit/detail/base/atomic.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <thread>

namespace {

using sennit::sys::barrier_all_threads, sennit::sys::barrier_available;

TEST(membarrier, gives_the_same_answer_each_time_and_leaves_errno_alone) {
    errno = 7;
    const bool first = barrier_available();
    EXPECT_EQ(barrier_available(), first);
    EXPECT_EQ(errno, 7);
}

TEST(membarrier, passes_when_it_says_it_can) {
    if (!barrier_available()) GTEST_SKIP() << "the kernel has no private expedited barrier";
    errno = 7;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(barrier_all_threads());
    EXPECT_EQ(errno, 7);
}

// Dekker's pattern with one barrier moved away: the two must not both miss the other's store.
TEST(membarrier, orders_the_store_and_load_of_a_thread_that_has_only_a_compiler_barrier) {
    if (!barrier_available()) GTEST_SKIP() << "the kernel has no private expedited barrier";
    constexpr int rounds = 2'000;
    sennit::base::atomic<int> round{0}, fast_done{0};
    sennit::base::atomic<int> fast{0}, slow{0};
    bool fast_missed = false;
    std::thread frequent([&] {
        for (int i = 1; i <= rounds; ++i) {
            while (round.load() != i) {
            }
            fast.store_rlx(i); // with the load below: ordered by the other side's membarrier
            sennit::base::compiler_barrier();
            fast_missed = slow.load_rlx() != i; // as above
            fast_done.store(i);
        }
    });
    int both_missed = 0;
    for (int i = 1; i <= rounds; ++i) {
        round.store(i);
        slow.store_rlx(i); // ordered by the barrier
        (void)barrier_all_threads();
        const bool slow_missed = fast.load_rlx() != i; // as above
        while (fast_done.load() != i) {
        }
        both_missed += slow_missed && fast_missed;
    }
    frequent.join();
    EXPECT_EQ(both_missed, 0);
}

TEST(membarrier, works_in_a_child_of_fork) {
    if (!barrier_available()) GTEST_SKIP() << "the kernel has no private expedited barrier";
    EXPECT_EQ(status_of_child([] {
                  if (!barrier_available()) return 1;
                  for (int i = 0; i < 10; ++i)
                      if (!barrier_all_threads()) return 1;
                  return 0;
              }),
              0);
}

// The answer is kept for the life of a process, so the variable must be there when the program
// starts.
TEST(membarrier_death_test, is_refused_by_the_environment) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    ::setenv("SENNIT_NO_MEMBARRIER", "1", 1);
    EXPECT_EXIT(std::_Exit(barrier_available() ? 1 : 0), testing::ExitedWithCode(0), "");
    ::setenv("SENNIT_NO_MEMBARRIER", "0", 1);
    const int expected = barrier_available() ? 0 : 1;
    EXPECT_EXIT(std::_Exit(barrier_available() ? 0 : 1), testing::ExitedWithCode(expected), "");
    ::unsetenv("SENNIT_NO_MEMBARRIER");
}

} // namespace
