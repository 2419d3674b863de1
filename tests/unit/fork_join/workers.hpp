// SPDX-License-Identifier: Apache-2.0
// Runs a test with 1, 2, 3 and 8 workers, and checks at the end that nothing is left alive in the
// runtime.
#pragma once

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <string>

class with_workers : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};

    // Each worker keeps one stack. All other stacks are idle again once the work is done.
    void TearDown() override {
        for (int look = 0; look < 1'000'000; ++look) {
            if (runtime.metrics().stacks_live <= GetParam()) return;
            runtime.run([] { sennit::sched::yield(); });
        }
        FAIL() << runtime.metrics().stacks_live << " stacks are live with " << GetParam()
               << " workers";
    }
};

#define SENNIT_FOR_WORKERS(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(                                                                      \
        workers, suite, testing::Values(1u, 2u, 3u, 8u),                                           \
        [](const auto& test) { return std::string(1, 'w').append(std::to_string(test.param)); })
