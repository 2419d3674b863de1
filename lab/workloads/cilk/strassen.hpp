// SPDX-License-Identifier: Apache-2.0
// strassen: the product of two n × n matrices of doubles by Strassen's algorithm in Winograd's
// form: eight sums of quadrants, a fork for each of seven products, and seven more sums. Only the
// products are parallel, as in Cilk's example.
//
// The leaf is 64 × 64, from which Cilk's example continues without Strassen's algorithm. Each inner
// node allocates eleven blocks of a quarter of its size, so the workload measures the allocator of
// large blocks too. The sizes of Cilk's example begin at 512.
//
// The elements are small whole numbers, so all sums and products are exact, and the product has a
// formula.
#pragma once

#include "../runtime_base.hpp"
#include "pages.hpp"

namespace lab {

struct strassen_matrices {
    static constexpr int leaf = 64;

    // A square part of a matrix.
    struct block {
        double* at;
        std::ptrdiff_t stride;
        double* row(int i) const { return at + i * stride; }
        block quadrant(int down, int right, int half) const {
            return {at + down * half * stride + right * half, stride};
        }
    };

    [[gnu::noinline]] static void multiply_leaf(block a, block b, block c, int n) {
        for (int i = 0; i < n; ++i) {
            double* __restrict const row = c.row(i);
            std::fill_n(row, n, 0.0);
            for (int k = 0; k < n; ++k) {
                const double factor = a.row(i)[k];
                const double* __restrict const other = b.row(k);
                for (int j = 0; j < n; ++j) row[j] += factor * other[j];
            }
        }
    }

    // The seven products of a node. The quadrants of the result hold four of them at first.
    class products {
    public:
        static constexpr std::size_t count = 7;
        struct {
            block a, b, to;
        } factors[count];
        const int half;

        products(block a, block b, block c, int n)
            : half(n / 2), c11_(c.quadrant(0, 0, half)), c12_(c.quadrant(0, 1, half)),
              c21_(c.quadrant(1, 0, half)), c22_(c.quadrant(1, 1, half)),
              memory_(std::make_unique_for_overwrite<double[]>(
                  blocks * static_cast<std::size_t>(half) * static_cast<std::size_t>(half))) {
            const block a11 = a.quadrant(0, 0, half), a12 = a.quadrant(0, 1, half),
                        a21 = a.quadrant(1, 0, half), a22 = a.quadrant(1, 1, half),
                        b11 = b.quadrant(0, 0, half), b12 = b.quadrant(0, 1, half),
                        b21 = b.quadrant(1, 0, half), b22 = b.quadrant(1, 1, half);
            const block s1 = own(0), s2 = own(1), s3 = own(2), s4 = own(3), t1 = own(4),
                        t2 = own(5), t3 = own(6), t4 = own(7);
            for (int i = 0; i < half; ++i) {
                for (int j = 0; j < half; ++j) {
                    s1.row(i)[j] = a21.row(i)[j] + a22.row(i)[j];
                    s2.row(i)[j] = s1.row(i)[j] - a11.row(i)[j];
                    s3.row(i)[j] = a11.row(i)[j] - a21.row(i)[j];
                    s4.row(i)[j] = a12.row(i)[j] - s2.row(i)[j];
                }
                for (int j = 0; j < half; ++j) {
                    t1.row(i)[j] = b12.row(i)[j] - b11.row(i)[j];
                    t2.row(i)[j] = b22.row(i)[j] - t1.row(i)[j];
                    t3.row(i)[j] = b22.row(i)[j] - b12.row(i)[j];
                    t4.row(i)[j] = t2.row(i)[j] - b21.row(i)[j];
                }
            }
            factors[0] = {a11, b11, own(8)};
            factors[1] = {a12, b21, c11_};
            factors[2] = {s4, b22, c12_};
            factors[3] = {a22, t4, c21_};
            factors[4] = {s1, t1, own(9)};
            factors[5] = {s2, t2, own(10)};
            factors[6] = {s3, t3, c22_};
        }

        // The result, once all products are known.
        void combine() const {
            const block p1 = own(8), p5 = own(9), p6 = own(10);
            for (int i = 0; i < half; ++i)
                for (int j = 0; j < half; ++j) {
                    const double sum = p1.row(i)[j] + p6.row(i)[j];
                    const double below = sum + c22_.row(i)[j];
                    c11_.row(i)[j] += p1.row(i)[j];
                    c12_.row(i)[j] += sum + p5.row(i)[j];
                    c21_.row(i)[j] = below - c21_.row(i)[j];
                    c22_.row(i)[j] = below + p5.row(i)[j];
                }
        }

    private:
        static constexpr std::size_t blocks = 11;
        block own(int number) const {
            return {memory_.get() + static_cast<std::ptrdiff_t>(number) * half * half, half};
        }
        block c11_, c12_, c21_, c22_;
        std::unique_ptr<double[]> memory_;
    };

    int n;
    pages<double> a, b, c;
    explicit strassen_matrices(const std::string& size)
        : n(static_cast<int>(parse_size(size, leaf, 2048))), a(elements()), b(elements()),
          c(elements()) {
        if ((n & (n - 1)) != 0)
            throw std::invalid_argument("size must be a power of two, not '" + size + "'");
    }
    std::size_t elements() const {
        return static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    }
    block whole(const pages<double>& matrix) const { return {matrix.data(), n}; }

    static int u(int i) { return i % 3; }
    static int v(int i) { return i % 5; }
    // a[i][j] = u(i) + v(j) and b[i][j] = v(i) + u(j).
    void prepare() const {
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                whole(a).row(i)[j] = u(i) + v(j);
                whole(b).row(i)[j] = v(i) + u(j);
                whole(c).row(i)[j] = -1;
            }
    }
    // The number of rows that are right, up to the first mistake.
    std::int64_t check() const {
        std::int64_t sum = 0, squares = 0; // of v
        for (int k = 0; k < n; ++k) {
            sum += v(k);
            squares += v(k) * v(k);
        }
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                const std::int64_t element =
                    u(i) * sum + std::int64_t{n} * u(i) * u(j) + squares + u(j) * sum;
                if (whole(c).row(i)[j] != static_cast<double>(element)) return i;
            }
        return n;
    }
    std::int64_t expected() const { return n; }
    std::int64_t tasks() const {
        std::int64_t level = 1, all = 1;
        for (int k = n; k > leaf; k /= 2) all += level *= 7;
        return all;
    }
};

template <class R>
struct strassen : strassen_matrices {
    static constexpr const char* name = "strassen";
    using strassen_matrices::strassen_matrices;

    // excerpt strassen
    [[gnu::noinline]] static void node(block a, block b, block c, int n) {
        if (n <= leaf) return multiply_leaf(a, b, c, n);
        const products all(a, b, c, n);
        const auto one = [&all](std::size_t i) {
            node(all.factors[i].a, all.factors[i].b, all.factors[i].to, all.half);
        };
        R::all([=] { one(0); }, [=] { one(1); }, [=] { one(2); }, [=] { one(3); }, [=] { one(4); },
               [=] { one(5); }, [=] { one(6); });
        all.combine();
    }
    // excerpt end
    std::int64_t run() const {
        node(whole(a), whole(b), whole(c), n);
        return 0;
    }
};

} // namespace lab
