// SPDX-License-Identifier: Apache-2.0
// fib: the naive recursion without a cutoff. It measures the cost of a fork, since the work of a
// node is one addition.
#pragma once

#include "runtime_base.hpp"

namespace lab {

inline std::int64_t fib_value(int n) {
    std::int64_t a = 0, b = 1;
    for (int i = 0; i < n; ++i) b = std::exchange(a, b) + b;
    return a;
}

template <class R>
struct fib {
    static constexpr const char* name = "fib";
    int n;
    explicit fib(const std::string& size) : n(static_cast<int>(parse_size(size, 0, 50))) {}

    // excerpt fib
    [[gnu::noinline]] static std::int64_t node(int n) {
        if (n < 2) return n;
        auto [a, b] = R::both([=] { return node(n - 1); }, [=] { return node(n - 2); });
        return a + b;
    }
    // excerpt end
    std::int64_t run() const { return node(n); }
    std::int64_t expected() const { return fib_value(n); }
    std::int64_t tasks() const { return 2 * fib_value(n + 1) - 1; } // calls
};

} // namespace lab
