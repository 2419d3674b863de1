// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace {

// A thread that notified a waiter before it slept looked at the waiter's entry once more
// afterwards, when the entry's frame could be gone. Only a sanitizer sees the bug.
TEST(regress, condition_variable_does_not_touch_a_claimed_waiter) {
    sennit::mutex mutex;
    sennit::condition_variable changed;
    std::atomic<bool> done{false};
    std::thread notifier([&] {
        while (!done) changed.notify_one();
    });
    std::unique_lock lock(mutex);
    int notified = 0;
    for (int round = 0; round < 20'000; ++round)
        notified += changed.wait_for(lock, std::chrono::hours(1)) == std::cv_status::no_timeout;
    done = true;
    notifier.join();
    EXPECT_EQ(notified, 20'000);
}

} // namespace
