// SPDX-License-Identifier: Apache-2.0
// matmul: C += A * B on integers by quadrants: two groups of four products with a join between the
// groups, down to leaves of 32 x 32.
//
// A and B hold only ones, so every element of C must be n. The thread that enters the runtime makes
// the three matrices inside the timed region, as in the suite that this workload comes from. Each
// matrix begins on a page. Without that, malloc would place a matrix by the program's earlier
// requests, and the leaf, with equal instructions in all runtimes, takes up to 1.2 times as long by
// the placement alone.
#pragma once

#include "runtime_base.hpp"

#include <new>

namespace lab {

template <class T>
struct on_pages {
    using value_type = T;
    static constexpr std::align_val_t page{4096};
    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new(count * sizeof(T), page));
    }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, page); }
    bool operator==(const on_pages&) const = default;
};

template <class R>
struct matmul {
    static constexpr const char* name = "matmul";
    static constexpr int leaf = 32;
    int n;
    explicit matmul(const std::string& size) : n(static_cast<int>(parse_size(size, leaf, 4096))) {
        if ((n & (n - 1)) != 0)
            throw std::invalid_argument("size must be a power of two, not '" + size + "'");
    }

    // No other task writes or reads the elements of c that this leaf writes. The slices of the Rust
    // port tell its compiler that, and make the port faster, so `__restrict` does it here.
    [[gnu::noinline]] static void multiply_leaf(const int* __restrict a, const int* __restrict b,
                                                int* __restrict c, int n, int stride) {
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k)
                for (int j = 0; j < n; ++j)
                    c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
    }

    // excerpt matmul
    [[gnu::noinline]] static void node(const int* a, const int* b, int* c, int n, int stride) {
        if (n <= leaf) {
            multiply_leaf(a, b, c, n, stride);
            return;
        }
        const int k = n / 2;
        const int down = k * stride;
        R::all([=] { node(a, b, c, k, stride); }, [=] { node(a, b + k, c + k, k, stride); },
               [=] { node(a + down, b, c + down, k, stride); },
               [=] { node(a + down, b + k, c + down + k, k, stride); });
        R::all([=] { node(a + k, b + down, c, k, stride); },
               [=] { node(a + k, b + down + k, c + k, k, stride); },
               [=] { node(a + down + k, b + down, c + down, k, stride); },
               [=] { node(a + down + k, b + down + k, c + down + k, k, stride); });
    }
    // excerpt end

    template <class Runtime>
    std::int64_t run_in(Runtime& runtime) const {
        const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
        std::vector<int, on_pages<int>> a(elements, 1), b(elements, 1), c(elements, 0);
        runtime.run([&] {
            node(a.data(), b.data(), c.data(), n, n);
            return 0;
        });
        for (int value : c)
            if (value != n) return 0;
        return n;
    }
    std::int64_t expected() const { return n; }
    std::int64_t tasks() const {
        std::int64_t level = 1, all = 1;
        for (int k = n; k > leaf; k /= 2) all += level *= 8;
        return all;
    }
};

} // namespace lab
