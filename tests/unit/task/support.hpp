// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests of tasks share: runtimes with 1, 2 and 8 workers.
#pragma once

#include "with_workers.hpp"

#include <sennit/task.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

#define SENNIT_FOR_WORKERS(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(workers, suite, testing::Values(1u, 2u, 8u), [](const auto& test) {   \
        return std::string(1, 'w').append(std::to_string(test.param));                             \
    })
