// SPDX-License-Identifier: Apache-2.0
// heat: heat diffusion on a grid of n columns and 1,024 rows, in 100 steps of Jacobi's method. A
// step halves the range of columns with a fork, down to ten columns. A join ends each step.
//
// Ten columns a leaf is the default of Cilk's example, and its long run has 4,096 columns, 1,024
// rows and 100 steps. A column is contiguous in memory.
//
// The first temperatures are a product of two sines, with zero on the edges. Such a product keeps
// its shape: each step multiplies it by a number that has a formula, so every cell can be checked.
#pragma once

#include "../runtime_base.hpp"
#include "pages.hpp"

#include <cmath>
#include <numbers>

namespace lab {

struct heat_grid {
    static constexpr int rows = 1024, steps = 100, leaf = 10, waves = 16;
    static constexpr double rate = 0.2; // of the flow between neighbours in one step

    int n;
    pages<double> before, after;
    explicit heat_grid(const std::string& size)
        : n(static_cast<int>(parse_size(size, 16, 32768))), before(cells()), after(cells()) {}
    std::size_t cells() const { return static_cast<std::size_t>(n) * rows; }

    // The columns of one step: read from one grid, write into the other one.
    struct step {
        const double* from;
        double* to;
    };
    step at(int number) const {
        return number % 2 == 0 ? step{before.data(), after.data()}
                               : step{after.data(), before.data()};
    }

    [[gnu::noinline]] static void columns(step s, int first, int last) {
        for (int column = first; column < last; ++column) {
            const double* __restrict const here = s.from + std::ptrdiff_t{column} * rows;
            double* __restrict const to = s.to + std::ptrdiff_t{column} * rows;
            for (int i = 1; i < rows - 1; ++i)
                to[i] = here[i] + rate * (here[i - rows] + here[i + rows] + here[i - 1] +
                                          here[i + 1] - 4 * here[i]);
        }
    }

    static double angle(int cells) { return waves * std::numbers::pi / (cells - 1); }
    double height(int column, int row) const {
        return std::sin(angle(n) * column) * std::sin(angle(rows) * row);
    }
    // The edges are zero in both grids from the beginning, and no step writes them.
    void prepare() const {
        for (int column = 1; column < n - 1; ++column)
            for (int i = 1; i < rows - 1; ++i)
                before[static_cast<std::size_t>(column) * rows + static_cast<std::size_t>(i)] =
                    height(column, i);
    }
    // The number of columns that are right, up to the first mistake.
    std::int64_t check() const {
        const auto loss = [](double a) { return 4 * rate * std::pow(std::sin(a / 2), 2); };
        const double left = std::pow(1 - loss(angle(n)) - loss(angle(rows)), steps);
        for (int column = 0; column < n; ++column)
            for (int i = 0; i < rows; ++i) {
                const double found = at(steps).from[std::ptrdiff_t{column} * rows + i];
                if (!(std::abs(found - left * height(column, i)) < 1e-10)) return column;
            }
        return n;
    }
    std::int64_t expected() const { return n; }

    static std::int64_t nodes(int first, int last) {
        if (last - first <= leaf) return 1;
        const int middle = first + (last - first) / 2;
        return 1 + nodes(first, middle) + nodes(middle, last);
    }
    std::int64_t tasks() const { return steps * nodes(1, n - 1); }
};

template <class R>
struct heat : heat_grid {
    static constexpr const char* name = "heat";
    using heat_grid::heat_grid;

    // excerpt heat
    [[gnu::noinline]] static void node(step s, int first, int last) {
        if (last - first <= leaf) return columns(s, first, last);
        const int middle = first + (last - first) / 2;
        R::all([=] { node(s, first, middle); }, [=] { node(s, middle, last); });
    }
    // excerpt end
    std::int64_t run() const {
        for (int number = 0; number < steps; ++number) node(at(number), 1, n - 1);
        return 0;
    }
};

} // namespace lab
