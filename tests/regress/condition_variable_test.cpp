// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace {

// Who notified a waiter before it slept looked at its entry once more afterwards, when its frame
// could be gone. Only a sanitizer sees it.
TEST(regress, condition_variable_leaves_alone_whom_it_has_claimed) {
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
