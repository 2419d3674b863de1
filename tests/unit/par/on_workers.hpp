// SPDX-License-Identifier: Apache-2.0
// Runs a test's body on runtimes of 1, 2, 3 and 8 workers, whatever the machine has.
#pragma once

#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <string>

template <class F>
void on_workers(F&& body) {
    for (unsigned workers : {1u, 2u, 3u, 8u}) {
        SCOPED_TRACE(std::to_string(workers) + " workers");
        sennit::runtime runtime({.workers = workers});
        runtime.run([&] { body(); });
        if (testing::Test::HasFatalFailure()) return;
    }
}
