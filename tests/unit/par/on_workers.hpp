// SPDX-License-Identifier: Apache-2.0
// Runs a test's body on runtimes with 1, 2, 3 and 8 workers, on any machine. The body may change
// threads, and GoogleTest's traces belong to one thread. The body must therefore not use
// SCOPED_TRACE.
#pragma once

#include "slow_tests.hpp"

#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <cstddef>

// Sizes of loops: no element, one element, about one chunk, and very many chunks.
inline constexpr std::size_t sizes[] = {0, 1, 2, 3, 7, 64, 1000, large(1'000'000)};

template <class F>
void on_workers(F&& body) {
    for (unsigned workers : {1u, 2u, 3u, 8u}) {
        sennit::runtime runtime({.workers = workers});
        runtime.run([&] { body(); });
        if (!testing::Test::HasFailure()) continue;
        ADD_FAILURE() << "the first failure came with " << workers << " workers";
        return;
    }
}
