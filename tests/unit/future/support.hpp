// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests of futures share: runtimes of several sizes, a type that counts its
// values, and the code of a future_error.
#pragma once

#include <sennit/async.hpp>
#include <sennit/detail/core/verbs.hpp>
#include <sennit/future.hpp>
#include <sennit/packaged_task.hpp>
#include <sennit/promise.hpp>
#include <sennit/when.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <system_error>
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

// Runs a test with 1 and 3 workers, and checks at its end that nothing is left alive.
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
    INSTANTIATE_TEST_SUITE_P(workers, suite, testing::Values(1u, 3u), [](const auto& test) {       \
        return std::string(1, 'w').append(std::to_string(test.param));                             \
    })

// Returns the code of the future_error that the call throws, or an empty code if it throws none.
template <class F>
std::error_code code_of(F&& call) {
    try {
        std::forward<F>(call)();
    } catch (const sennit::future_error& error) {
        return error.code();
    }
    return {};
}

inline const std::error_code no_state = make_error_code(sennit::future_errc::no_state);
inline const std::error_code already_retrieved =
    make_error_code(sennit::future_errc::future_already_retrieved);
inline const std::error_code already_satisfied =
    make_error_code(sennit::future_errc::promise_already_satisfied);
inline const std::error_code broken_promise = make_error_code(sennit::future_errc::broken_promise);
