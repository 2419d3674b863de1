// SPDX-License-Identifier: Apache-2.0
// matmul: C += A * B on integers by quadrants, two groups of four with a join between, down to 32
// x 32.
//
// A and B are all ones, so every element of C must be n. The three matrices are made inside the
// timed region, by the thread that enters the runtime, as in the suite that this workload comes
// from. Each begins on a page: where malloc puts them depends on what the program asked for before,
// and the leaf, the same instructions everywhere, takes up to 1.2 times as long by their place
// alone.
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

    // Nobody else writes or reads what it writes: as the slices of the port to Rust say, which is
    // faster for it.
    [[gnu::noinline]] static void multiply_leaf(const int* __restrict a, const int* __restrict b,
                                                int* __restrict c, int n, int stride) {
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k)
                for (int j = 0; j < n; ++j)
                    c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
    }

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
