// SPDX-License-Identifier: Apache-2.0
// The common base of most workloads of fibers, whose size is the number of operations.
#pragma once

#include "../runtime_base.hpp"

namespace lab {

inline constexpr std::int64_t max_operations = 999'999'999;

// The answer is the number of operations that were counted.
struct counted {
    std::int64_t n;
    explicit counted(const std::string& size) : n(parse_size(size, 1, max_operations)) {}
    std::int64_t tasks() const { return n; }
    std::int64_t expected() const { return n; }
};

// The answer is the sum of the numbers 0 to n - 1, which travel as messages.
struct summed {
    std::int64_t n;
    explicit summed(const std::string& size) : n(parse_size(size, 1, max_operations)) {}
    std::int64_t tasks() const { return n; }
    std::int64_t expected() const { return n * (n - 1) / 2; }
};

} // namespace lab
