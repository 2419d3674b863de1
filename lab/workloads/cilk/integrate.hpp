// SPDX-License-Identifier: Apache-2.0
// integrate: adaptive quadrature of x³ + x from 0 to n, with a fork for the two halves of each
// segment that is not yet accurate. The work of a node is a few floating-point operations, so the
// workload shows the cost of a fork in a tree that no task knows in advance.
//
// Function, rule (trapezoid) and tolerance (10⁻⁹ a segment) are those of libfork's benchmarks,
// which integrate up to 10,000. The first versions come from the examples of Cilk. The default here
// is 5,000, which takes a third of the time.
//
// The answer is the integral in thousands. All sizes are multiples of 100, so this is a whole
// number, and `run` rounds the errors of the sum away.
#pragma once

#include "sizes.hpp"

#include <cmath>

namespace lab {

struct quadrature {
    static constexpr double tolerance = 1e-9;

    static double f(double x) { return (x * x + 1.0) * x; }

    // A segment in two halves: the point between them, its value, and the area of each half.
    struct halves {
        double x, y, left, right;
        double sum() const { return left + right; }
        bool accurate(double area) const { return std::abs(sum() - area) < tolerance; }
    };
    static halves halve(double x1, double y1, double x2, double y2) {
        const double half = (x2 - x1) / 2;
        const double x = x1 + half;
        const double y = f(x);
        return {x, y, (y1 + y) / 2 * half, (y + y2) / 2 * half};
    }

    // The numbers of nodes are counted, since they have no formula: rounding decides some nodes of
    // large sizes. Programs of g++ and clang++, with and without fused operations, counted the
    // same.
    struct known_size {
        int n;
        std::int64_t nodes;
    };
    static constexpr std::array<known_size, 4> sizes{
        {{100, 779'923}, {1'000, 15'016'391}, {5'000, 128'923'579}, {10'000, 350'009'975}}};
};

template <class R>
struct integrate : quadrature {
    static constexpr const char* name = "integrate";
    known_size size;
    explicit integrate(const std::string& text) : size(one_of(text, sizes)) {}

    // excerpt integrate
    [[gnu::noinline]] static double node(double x1, double y1, double x2, double y2, double area) {
        const halves two = halve(x1, y1, x2, y2);
        if (two.accurate(area)) return two.sum();
        auto [a, b] = R::both([=] { return node(x1, y1, two.x, two.y, two.left); },
                              [=] { return node(two.x, two.y, x2, y2, two.right); });
        return a + b;
    }
    // excerpt end
    double root() const { return node(0, 0, size.n, f(size.n), 0); }
    std::int64_t run() const { return std::llround(root() / 1000); }
    std::int64_t expected() const {
        const std::int64_t half_square = std::int64_t{size.n} * size.n / 2;
        return half_square * (half_square + 1) / 1000;
    }
    std::int64_t tasks() const { return size.nodes; }
};

} // namespace lab
