// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests of futures share: runtimes with 1 and 3 workers, and the code of a
// future_error.
#pragma once

#include "with_workers.hpp"

#include <sennit/async.hpp>
#include <sennit/future.hpp>
#include <sennit/packaged_task.hpp>
#include <sennit/promise.hpp>
#include <sennit/when.hpp>

#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <utility>

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
