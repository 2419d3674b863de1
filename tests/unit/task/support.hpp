// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests of tasks share: runtimes of several sizes, and a count of live values.
#pragma once

#include <sennit/detail/core/verbs.hpp>
#include <sennit/runtime.hpp>
#include <sennit/task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>

// A type that counts its live values.
class counted {
public:
    explicit counted(int v = 0) noexcept : value(v) { ++alive_; }
    counted(const counted& other) noexcept : value(other.value) { ++alive_; }
    counted(counted&& other) noexcept : value(std::exchange(other.value, -1)) { ++alive_; }
    counted& operator=(const counted&) noexcept = default;
    ~counted() { --alive_; }
    static int alive() noexcept { return alive_; }

    int value;

private:
    static inline std::atomic<int> alive_{0};
};

// Runs a test with 1, 2 and 8 workers, and checks at its end that nothing is left alive.
class with_workers : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};

    void TearDown() override {
        for (int look = 0; look < 1'000'000; ++look) {
            if (runtime.metrics().stacks_live <= GetParam() && counted::alive() == 0) return;
            runtime.run([] { sennit::sched::yield(); });
        }
        FAIL() << runtime.metrics().stacks_live << " stacks and " << counted::alive()
               << " values are alive";
    }
};

#define SENNIT_FOR_WORKERS(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(workers, suite, testing::Values(1u, 2u, 8u), [](const auto& test) {   \
        return std::string(1, 'w').append(std::to_string(test.param));                             \
    })
