// SPDX-License-Identifier: Apache-2.0
// lu: the LU factorisation of an n × n matrix of doubles without pivots, by quadrants. The first
// quadrant is factorised; two forked solvers then compute its neighbours; an update multiplies
// these and subtracts the product from the last quadrant, which is factorised last. Solvers and
// updates recurse by quadrants too, with a join between groups of two or four children.
//
// The leaf is a block of 16 × 16 elements, which lies in one piece of memory, as in Cilk's example.
// There a solver forks two halves, each of which runs its three steps in order; here a join
// separates the steps of both halves.
//
// The matrix is the product of a lower factor of ones and an upper factor with 1, 2 or 3 in column
// j, by the remainder of j. All intermediate results are small whole numbers, so the result is
// exact.
#pragma once

#include "../runtime_base.hpp"
#include "pages.hpp"

#include <algorithm>

namespace lab {

struct lu_matrix {
    static constexpr int side = 16; // of a block

    // A square part of the matrix, in blocks.
    struct part {
        double* at;
        std::ptrdiff_t stride; // blocks in a row of blocks of the whole matrix
        part quadrant(int down, int right, int half) const {
            return {at + (down * half * stride + right * half) * side * side, stride};
        }
    };
    struct quadrants {
        part p00, p01, p10, p11;
        quadrants(part whole, int half)
            : p00(whole.quadrant(0, 0, half)), p01(whole.quadrant(0, 1, half)),
              p10(whole.quadrant(1, 0, half)), p11(whole.quadrant(1, 1, half)) {}
    };

    // m = L · U in place; L has ones on its diagonal.
    static void factorise_block(part m) {
        double* const x = m.at;
        for (int k = 0; k < side; ++k)
            for (int i = k + 1; i < side; ++i) {
                x[i * side + k] /= x[k * side + k];
                for (int j = k + 1; j < side; ++j)
                    x[i * side + j] -= x[i * side + k] * x[k * side + j];
            }
    }
    // m = L⁻¹ · m
    static void solve_lower_block(part m, part l) {
        double* __restrict const x = m.at;
        const double* __restrict const a = l.at;
        for (int i = 1; i < side; ++i)
            for (int k = 0; k < i; ++k)
                for (int j = 0; j < side; ++j) x[i * side + j] -= a[i * side + k] * x[k * side + j];
    }
    // m = m · U⁻¹
    static void solve_upper_block(part m, part u) {
        double* __restrict const x = m.at;
        const double* __restrict const a = u.at;
        for (int i = 0; i < side; ++i)
            for (int k = 0; k < side; ++k) {
                x[i * side + k] /= a[k * side + k];
                for (int j = k + 1; j < side; ++j)
                    x[i * side + j] -= x[i * side + k] * a[k * side + j];
            }
    }
    // m = m - v · w
    [[gnu::noinline]] static void update_block(part m, part v, part w) {
        double* __restrict const x = m.at;
        const double* __restrict const a = v.at;
        const double* __restrict const b = w.at;
        for (int i = 0; i < side; ++i)
            for (int k = 0; k < side; ++k)
                for (int j = 0; j < side; ++j) x[i * side + j] -= a[i * side + k] * b[k * side + j];
    }

    int n;
    pages<double> elements;
    explicit lu_matrix(const std::string& size)
        : n(static_cast<int>(parse_size(size, side, 4096))),
          elements(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {
        if ((n & (n - 1)) != 0)
            throw std::invalid_argument("size must be a power of two, not '" + size + "'");
    }
    int blocks() const { return n / side; } // in a row
    part whole() const { return {elements.data(), blocks()}; }
    double& element(int i, int j) const {
        const part block = whole().quadrant(i / side, j / side, 1);
        return block.at[i % side * side + j % side];
    }
    static int upper(int j) { return j % 3 + 1; }
    void prepare() const {
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) element(i, j) = (std::min(i, j) + 1) * upper(j);
    }
    // The number of rows that are right, up to the first mistake.
    std::int64_t check() const {
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                if (element(i, j) != (j < i ? 1 : upper(j))) return i;
        return n;
    }
    std::int64_t expected() const { return n; }

    // The number of calls, for a part of so many blocks in a row.
    static std::int64_t updates(int blocks) {
        return blocks == 1 ? 1 : 1 + 8 * updates(blocks / 2);
    }
    static std::int64_t solvers(int blocks) {
        return blocks == 1 ? 1 : 1 + 4 * solvers(blocks / 2) + 2 * updates(blocks / 2);
    }
    static std::int64_t all(int blocks) {
        const int half = blocks / 2;
        return blocks == 1 ? 1 : 1 + 2 * all(half) + 2 * solvers(half) + updates(half);
    }
    std::int64_t tasks() const { return all(blocks()); }
};

template <class R>
struct lu : lu_matrix {
    static constexpr const char* name = "lu";
    using lu_matrix::lu_matrix;

    [[gnu::noinline]] static void update(part m, part v, part w, int blocks) {
        if (blocks == 1) return update_block(m, v, w);
        const int half = blocks / 2;
        const quadrants a(m, half), b(v, half), c(w, half);
        R::all([&, half] { update(a.p00, b.p00, c.p00, half); },
               [&, half] { update(a.p01, b.p00, c.p01, half); },
               [&, half] { update(a.p10, b.p10, c.p00, half); },
               [&, half] { update(a.p11, b.p10, c.p01, half); });
        R::all([&, half] { update(a.p00, b.p01, c.p10, half); },
               [&, half] { update(a.p01, b.p01, c.p11, half); },
               [&, half] { update(a.p10, b.p11, c.p10, half); },
               [&, half] { update(a.p11, b.p11, c.p11, half); });
    }
    [[gnu::noinline]] static void solve_lower(part m, part l, int blocks) {
        if (blocks == 1) return solve_lower_block(m, l);
        const int half = blocks / 2;
        const quadrants a(m, half), b(l, half);
        R::all([&, half] { solve_lower(a.p00, b.p00, half); },
               [&, half] { solve_lower(a.p01, b.p00, half); });
        R::all([&, half] { update(a.p10, b.p10, a.p00, half); },
               [&, half] { update(a.p11, b.p10, a.p01, half); });
        R::all([&, half] { solve_lower(a.p10, b.p11, half); },
               [&, half] { solve_lower(a.p11, b.p11, half); });
    }
    [[gnu::noinline]] static void solve_upper(part m, part u, int blocks) {
        if (blocks == 1) return solve_upper_block(m, u);
        const int half = blocks / 2;
        const quadrants a(m, half), b(u, half);
        R::all([&, half] { solve_upper(a.p00, b.p00, half); },
               [&, half] { solve_upper(a.p10, b.p00, half); });
        R::all([&, half] { update(a.p01, a.p00, b.p01, half); },
               [&, half] { update(a.p11, a.p10, b.p01, half); });
        R::all([&, half] { solve_upper(a.p01, b.p11, half); },
               [&, half] { solve_upper(a.p11, b.p11, half); });
    }
    // excerpt lu
    [[gnu::noinline]] static void factorise(part m, int blocks) {
        if (blocks == 1) return factorise_block(m);
        const int half = blocks / 2;
        const quadrants a(m, half);
        factorise(a.p00, half);
        R::all([&, half] { solve_lower(a.p01, a.p00, half); },
               [&, half] { solve_upper(a.p10, a.p00, half); });
        update(a.p11, a.p10, a.p01, half);
        factorise(a.p11, half);
    }
    // excerpt end
    std::int64_t run() const {
        factorise(whole(), blocks());
        return 0;
    }
};

} // namespace lab
