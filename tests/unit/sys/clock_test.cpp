// SPDX-License-Identifier: Apache-2.0
// Tests now_ns.
#include "sys/clock.hpp"

#include <gtest/gtest.h>

#include <time.h>

namespace {

std::int64_t monotonic() {
    timespec now{};
    EXPECT_EQ(::clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

TEST(now_ns, now_ns_reads_monotonic_clock_and_never_goes_back) {
    std::int64_t last = monotonic();
    for (int i = 0; i < 10'000; ++i) {
        const std::int64_t now = sennit::sys::now_ns();
        ASSERT_GE(now, last);
        last = now;
    }
    EXPECT_GE(monotonic(), last);
}

} // namespace
