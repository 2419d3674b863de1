// SPDX-License-Identifier: Apache-2.0
// Runs a test with 1, 2, 3 and 8 workers, and checks at the end that nothing is left alive in the
// runtime.
#pragma once

#include "nothing_left.hpp"
#include "race_rounds.hpp"

#include <sennit/runtime.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <string>

class on_workers : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};
    void TearDown() override { EXPECT_TRUE(nothing_left(runtime)); }
};

#define SENNIT_ON_WORKERS(suite)                                                                   \
    INSTANTIATE_TEST_SUITE_P(                                                                      \
        workers, suite, testing::Values(1u, 2u, 3u, 8u),                                           \
        [](const auto& test) { return std::string(1, 'w').append(std::to_string(test.param)); })

// Yields until `holds()` is true. Use it to wait for another strand, which runs during the yields.
template <std::predicate Condition>
void yield_until(Condition&& holds) {
    while (!holds()) sennit::this_fiber::yield();
}
inline void yield_until(const std::atomic<bool>& flag) {
    yield_until([&] { return flag.load(); });
}

// Lets other strands run, so that a strand that has announced its wait blocks. A test must pass in
// both cases.
inline void let_others_run(int times = 100) {
    for (int i = 0; i < times; ++i) sennit::this_fiber::yield();
}

// Counts the strands that are inside, and keeps the largest number.
class most_inside {
public:
    void enter() {
        const int now = ++inside_;
        int most = most_;
        while (now > most && !most_.compare_exchange_weak(most, now)) {
        }
    }
    void leave() { --inside_; }
    int most() const { return most_; }

private:
    std::atomic<int> inside_{0}, most_{0};
};
