// SPDX-License-Identifier: Apache-2.0
// Tests membarrier, which makes every running thread of the process pass a barrier.
#include "sys/membarrier.hpp"

#include "child_process.hpp"
#include "sennit/detail/base/atomic.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <thread>

namespace {

using sennit::sys::barrier_all_threads, sennit::sys::barrier_available;

TEST(membarrier, availability_is_constant_and_errno_is_kept) {
    errno = 7;
    const bool first = barrier_available();
    EXPECT_EQ(barrier_available(), first);
    EXPECT_EQ(errno, 7);
}

TEST(membarrier, available_barrier_succeeds) {
    if (!barrier_available()) GTEST_SKIP() << "the kernel has no private expedited barrier";
    errno = 7;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(barrier_all_threads());
    EXPECT_EQ(errno, 7);
}

// Dekker's pattern with one barrier moved to the other side. At least one of the two threads must
// see the store of the other.
TEST(membarrier, barrier_orders_thread_that_has_only_compiler_barrier) {
    if (!barrier_available()) GTEST_SKIP() << "the kernel has no private expedited barrier";
    constexpr int rounds = 2'000;
    sennit::base::atomic<int> round{0}, fast_done{0};
    sennit::base::atomic<int> fast{0}, slow{0};
    bool fast_missed = false;
    std::thread frequent([&] {
        for (int i = 1; i <= rounds; ++i) {
            while (round.load() != i) {
            }
            // The membarrier of the other thread orders this store before the load below.
            fast.store_rlx(i);
            sennit::base::compiler_barrier();
            // The membarrier of the other thread orders this load after the store.
            fast_missed = slow.load_rlx() != i;
            fast_done.store(i);
        }
    });
    int both_missed = 0;
    for (int i = 1; i <= rounds; ++i) {
        round.store(i);
        // The barrier orders this store before the load below.
        slow.store_rlx(i);
        (void)barrier_all_threads();
        // The barrier orders this load after the store.
        const bool slow_missed = fast.load_rlx() != i;
        while (fast_done.load() != i) {
        }
        both_missed += slow_missed && fast_missed;
    }
    frequent.join();
    EXPECT_EQ(both_missed, 0);
}

TEST(membarrier, barrier_works_in_child_of_fork) {
    if (!barrier_available()) GTEST_SKIP() << "the kernel has no private expedited barrier";
    EXPECT_EQ(status_of_child([] {
                  if (!barrier_available()) return 1;
                  for (int i = 0; i < 10; ++i)
                      if (!barrier_all_threads()) return 1;
                  return 0;
              }),
              0);
}

// A process keeps the answer for its whole life. The variable must therefore be set when the
// program starts.
TEST(membarrier_death_test, environment_disables_barrier) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    ::setenv("SENNIT_NO_MEMBARRIER", "1", 1);
    EXPECT_EXIT(std::_Exit(barrier_available() ? 1 : 0), testing::ExitedWithCode(0), "");
    ::setenv("SENNIT_NO_MEMBARRIER", "0", 1);
    const int expected = barrier_available() ? 0 : 1;
    EXPECT_EXIT(std::_Exit(barrier_available() ? 0 : 1), testing::ExitedWithCode(expected), "");
    ::unsetenv("SENNIT_NO_MEMBARRIER");
}

} // namespace
