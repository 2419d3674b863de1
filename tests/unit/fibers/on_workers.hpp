// SPDX-License-Identifier: Apache-2.0
// Runs a test with 1, 2 and 4 workers, and checks at the end that nothing is left alive in the
// runtime.
#pragma once

#include "race_rounds.hpp"

#include <sennit/runtime.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <string>
#include <system_error>

// Each worker keeps one stack. All other stacks are idle again once the work is done.
inline void expect_nothing_alive(sennit::runtime& runtime) {
    for (int look = 0; look < 1'000'000; ++look) {
        if (runtime.metrics().stacks_live <= runtime.workers()) return;
        runtime.run([] { sennit::this_fiber::yield(); });
    }
    FAIL() << runtime.metrics().stacks_live << " stacks are live with " << runtime.workers()
           << " workers";
}

class on_workers : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};
    void TearDown() override { expect_nothing_alive(runtime); }
};

#define SENNIT_ON_WORKERS(suite)                                                                   \
    INSTANTIATE_TEST_SUITE_P(workers, suite, testing::Values(1u, 2u, 4u), [](const auto& test) {   \
        return std::string(1, 'w').append(std::to_string(test.param));                             \
    })

// Yields until `holds()` is true. Use it to wait for another strand, which runs during the yields.
template <std::predicate Condition>
void yield_until(Condition&& holds) {
    while (!holds()) sennit::this_fiber::yield();
}
inline void yield_until(const std::atomic<bool>& flag) {
    yield_until([&] { return flag.load(); });
}

// Lets other strands run, so that a strand that has announced its wait blocks. With one worker,
// that strand has blocked as soon as another strand runs. With more workers, it may not have
// blocked yet, and a test must pass in both cases.
inline void let_others_run(int times = 100) {
    for (int i = 0; i < times; ++i) sennit::this_fiber::yield();
}

template <class Call>
void expect_error(std::errc code, Call&& call) {
    try {
        call();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
    }
}
