// SPDX-License-Identifier: Apache-2.0
// with_workers: a fixture with a runtime of as many workers as the test's parameter says. counted:
// a type that counts its live values. At the end of each test, nothing is left alive.
#pragma once

#include <sennit/detail/core/verbs.hpp>
#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <atomic>
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
