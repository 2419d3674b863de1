// SPDX-License-Identifier: Apache-2.0
#include "with_taskflow.hpp"

#include "cilk/main.hpp"

std::optional<int> lab::run_cilk(const std::string& name, const std::string& size,
                                 unsigned threads) {
    return cilk<with_taskflow>::run(name, size, threads);
}
