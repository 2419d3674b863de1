// SPDX-License-Identifier: Apache-2.0
// fft: the discrete Fourier transform of n complex numbers, out of place, by decimation in time. A
// node has three phases with a join after each: it gathers every fourth number into a quarter of
// the second array, transforms the quarters (four forks), and combines them with the roots of
// unity. The first and the last phase halve their range with a fork, down to 128 columns of four
// numbers.
//
// These phases, the leaf of at most 32 numbers and the ranges of 128 are those of Cilk's example,
// whose nodes have up to 32 children and generated code without loops. Here a node has four
// children and the leaf is a loop, so the transform is slower for one task and the forks are
// finer.
//
// The input is a sum of three waves, whose transform has three peaks.
#pragma once

#include "../runtime_base.hpp"
#include "pages.hpp"

#include <cmath>
#include <numbers>

namespace lab {

struct fft_data {
    static constexpr std::size_t leaf = 32, range = 128;

    struct number {
        double re = 0, im = 0;
        number operator+(number o) const { return {re + o.re, im + o.im}; }
        number operator-(number o) const { return {re - o.re, im - o.im}; }
        number operator*(number o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
        number times_i() const { return {-im, re}; }
    };

    std::size_t n;
    pages<number> numbers, second, roots; // roots[k] = exp(-2πi · k / n)
    explicit fft_data(const std::string& size)
        : n(static_cast<std::size_t>(parse_size(size, 64, 1 << 23))), numbers(n), second(n),
          roots(n) {
        if ((n & (n - 1)) != 0)
            throw std::invalid_argument("size must be a power of two, not '" + size + "'");
        for (std::size_t k = 0; k < n; ++k) {
            const double angle =
                -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
            roots[k] = {std::cos(angle), std::sin(angle)};
        }
    }

    // A node: `from` holds its numbers and is overwritten; the result goes to `to`.
    struct node {
        const number* roots;
        number* from;
        number* to;
        std::size_t size, step; // n is size · step.

        std::size_t quarter() const { return size / 4; }
        // The quarter i has been gathered in `to`, and leaves its result in `from`.
        node child(std::size_t i) const {
            return {roots, to + i * quarter(), from + i * quarter(), quarter(), step * 4};
        }
    };
    node root() const { return {roots.data(), numbers.data(), second.data(), n, 1}; }

    [[gnu::noinline]] static void gather(const node& at, std::size_t first, std::size_t last) {
        const std::size_t quarter = at.quarter();
        for (std::size_t i = first; i < last; ++i)
            for (std::size_t k = 0; k < 4; ++k) at.to[k * quarter + i] = at.from[4 * i + k];
    }
    [[gnu::noinline]] static void combine(const node& at, std::size_t first, std::size_t last) {
        const std::size_t quarter = at.quarter();
        for (std::size_t i = first; i < last; ++i) {
            const number* const from = at.from + i;
            number* const to = at.to + i;
            const number* const root = at.roots;
            const std::size_t turn = i * at.step;
            const number a = from[0], b = from[quarter] * root[turn],
                         c = from[2 * quarter] * root[2 * turn],
                         d = from[3 * quarter] * root[3 * turn];
            const number even = a + c, odd = a - c, sum = b + d, across = (b - d).times_i();
            to[0] = even + sum;
            to[quarter] = odd - across;
            to[2 * quarter] = even - sum;
            to[3 * quarter] = odd + across;
        }
    }
    // In bit-reversed order first, then by pairs.
    [[gnu::noinline]] static void transform_leaf(const node& at) {
        for (std::size_t i = 0, reversed = 0; i < at.size; ++i) {
            at.to[reversed] = at.from[i];
            std::size_t bit = at.size / 2;
            for (; bit != 0 && (reversed & bit) != 0; bit /= 2) reversed ^= bit;
            reversed |= bit;
        }
        for (std::size_t half = 1; half < at.size; half *= 2)
            for (std::size_t first = 0; first < at.size; first += 2 * half)
                for (std::size_t i = first; i < first + half; ++i) {
                    const std::size_t turn = (i - first) * (at.size / (2 * half)) * at.step;
                    const number a = at.to[i], b = at.to[i + half] * at.roots[turn];
                    at.to[i] = a + b;
                    at.to[i + half] = a - b;
                }
    }

    // The input has the height w + 1 at the frequency of wave w.
    static constexpr std::size_t waves = 3;
    std::size_t frequency(std::size_t wave) const {
        return std::array<std::size_t, waves>{1, n / 5, n - 7}[wave];
    }
    void prepare() const {
        for (std::size_t i = 0; i < n; ++i) {
            number sum;
            for (std::size_t wave = 0; wave < waves; ++wave) {
                const number root = roots[frequency(wave) * i % n];
                const auto height = static_cast<double>(wave + 1);
                sum = sum + number{height * root.re, -height * root.im};
            }
            numbers[i] = sum;
        }
    }
    // The number of right results, up to the first mistake.
    std::int64_t check() const {
        const auto scale = static_cast<double>(n);
        for (std::size_t k = 0; k < n; ++k) {
            double height = 0;
            for (std::size_t wave = 0; wave < waves; ++wave)
                if (frequency(wave) == k) height += static_cast<double>(wave + 1);
            const number found = second[k];
            if (!(std::abs(found.re / scale - height) < 1e-10 &&
                  std::abs(found.im / scale) < 1e-10))
                return static_cast<std::int64_t>(k);
        }
        return static_cast<std::int64_t>(n);
    }
    std::int64_t expected() const { return static_cast<std::int64_t>(n); }

    // The number of calls: of transforms, and of their two phases over so many columns.
    static std::int64_t phases(std::size_t columns) {
        return columns <= range ? 1 : 1 + phases(columns / 2) + phases(columns - columns / 2);
    }
    static std::int64_t transforms(std::size_t size) {
        return size <= leaf ? 1 : 1 + 2 * phases(size / 4) + 4 * transforms(size / 4);
    }
    std::int64_t tasks() const { return transforms(n); }
};

template <class R>
struct fft : fft_data {
    static constexpr const char* name = "fft";
    using fft_data::fft_data;
    using phase = void (*)(const node&, std::size_t, std::size_t);

    template <phase Work>
    [[gnu::noinline]] static void halve(const node& at, std::size_t first, std::size_t last) {
        if (last - first <= range) return Work(at, first, last);
        const std::size_t middle = first + (last - first) / 2;
        R::all([&at, first, middle] { halve<Work>(at, first, middle); },
               [&at, middle, last] { halve<Work>(at, middle, last); });
    }
    // excerpt fft
    [[gnu::noinline]] static void transform(const node& at) {
        if (at.size <= leaf) return transform_leaf(at);
        halve<gather>(at, 0, at.quarter());
        R::all([&at] { transform(at.child(0)); }, [&at] { transform(at.child(1)); },
               [&at] { transform(at.child(2)); }, [&at] { transform(at.child(3)); });
        halve<combine>(at, 0, at.quarter());
    }
    // excerpt end
    std::int64_t run() const {
        transform(root());
        return 0;
    }
};

} // namespace lab
