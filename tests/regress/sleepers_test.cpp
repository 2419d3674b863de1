// SPDX-License-Identifier: Apache-2.0
#include "sys/membarrier.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

namespace {

// With three workers or more, a thief that took the only public fork woke no parked worker. The
// forks that the owner had pushed after it stayed private in its long leaf. Here, where all tasks
// wait for each other, they stayed private for ever.
TEST(regress, as_many_long_leaves_as_workers_all_run_at_once) {
    if (!sennit::sys::barrier_available())
        GTEST_SKIP() << "without membarrier no worker can force the forks of a long leaf";
    for (unsigned workers : {2u, 3u, 8u}) {
        sennit::runtime runtime({.workers = workers});
        for (int round = 0; round < 30; ++round) {
            std::atomic<unsigned> started{0};
            const auto wait_for_all = [&](std::size_t) {
                ++started;
                while (started < workers) std::this_thread::yield();
                return 1u;
            };
            EXPECT_EQ(runtime.run([&] {
                return sennit::fork_reduce(workers, 0u, std::plus<>{}, wait_for_all);
            }),
                      workers);
            started = 0;
            runtime.run([&] {
                sennit::scope children;
                for (unsigned i = 0; i < workers; ++i) children.spawn([&] { wait_for_all(0); });
                children.join();
            });
        }
    }
}

} // namespace
