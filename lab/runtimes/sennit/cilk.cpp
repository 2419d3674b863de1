// SPDX-License-Identifier: Apache-2.0
#include "with_sennit.hpp"

#include "cilk/main.hpp"

std::optional<int> lab::run_cilk(const std::string& name, const std::string& size,
                                 unsigned threads) {
    return cilk<with_sennit>::run(name, size, threads);
}
