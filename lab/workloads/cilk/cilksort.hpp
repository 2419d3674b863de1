// SPDX-License-Identifier: Apache-2.0
// cilksort: sorts 64-bit numbers. Four forks sort the quarters, two forks merge pairs of quarters
// into a second array, and a last merge brings the halves back. A merge forks too: it splits the
// longer input at its middle, and the shorter input where the middle element belongs.
//
// Below 2,048 numbers a task sorts by quicksort, with insertion sort below 20 numbers. A merge
// whose shorter input has less than 2,048 numbers is serial. These are the sizes of Cilk's example,
// which sorts up to 4.1 million numbers; here a size is a power of two.
#pragma once

#include "../runtime_base.hpp"
#include "pages.hpp"

#include <algorithm>

namespace lab {

struct sorting {
    using number = std::int64_t;
    static constexpr std::ptrdiff_t serial_sort = 2048, serial_merge = 2048, insertion = 20;

    static void insertion_sort(number* first, number* last) {
        for (number* next = first + 1; next < last; ++next) {
            const number moved = *next;
            number* hole = next;
            for (; hole > first && hole[-1] > moved; --hole) *hole = hole[-1];
            *hole = moved;
        }
    }

    // Puts small numbers before large ones, and returns the first of the large ones. The pivot is
    // the median of the first, the middle and the last number, so both parts have a number.
    static number* partition(number* first, number* last) {
        const number a = *first, b = first[(last - first) / 2], c = last[-1];
        const number pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
        number* low = first;
        number* high = last - 1;
        for (;; ++low, --high) {
            while (*low < pivot) ++low;
            while (*high > pivot) --high;
            if (low >= high) return low == first ? low + 1 : low;
            std::swap(*low, *high);
        }
    }

    [[gnu::noinline]] static void quicksort(number* first, number* last) {
        while (last - first > insertion) {
            number* const middle = partition(first, last);
            quicksort(first, middle);
            first = middle;
        }
        insertion_sort(first, last);
    }

    // A range of sorted numbers.
    struct range {
        const number* first;
        const number* last;
        std::ptrdiff_t size() const { return last - first; }
    };

    [[gnu::noinline]] static void merge_serially(range a, range b, number* to) {
        while (a.first != a.last && b.first != b.last)
            *to++ = *a.first < *b.first ? *a.first++ : *b.first++;
        to = std::copy(a.first, a.last, to);
        std::copy(b.first, b.last, to);
    }

    // The numbers in quarters a to d, and where the halves are merged in the second array.
    struct quarters {
        number *a, *b, *c, *d, *end, *second, *half;
        std::ptrdiff_t quarter;
        quarters(number* numbers, number* second, std::ptrdiff_t size)
            : a(numbers), b(a + size / 4), c(b + size / 4), d(c + size / 4), end(numbers + size),
              second(second), half(second + 2 * (size / 4)), quarter(size / 4) {}
        range range_a() const { return {a, b}; }
        range range_b() const { return {b, c}; }
        range range_c() const { return {c, d}; }
        range range_d() const { return {d, end}; }
        range first_half() const { return {second, half}; }
        range second_half() const { return {half, second + (end - a)}; }
    };

    // A merge as two merges, which no number crosses.
    struct two_merges {
        range a1, b1, a2, b2;
        number* to2;
    };
    static two_merges split(range a, range b, number* to) {
        const number* const middle = a.first + a.size() / 2;
        const number* const at = std::lower_bound(b.first, b.last, *middle);
        return {{a.first, middle},
                {b.first, at},
                {middle, a.last},
                {at, b.last},
                to + (middle - a.first) + (at - b.first)};
    }

    std::int64_t n;
    pages<number> numbers, second;
    explicit sorting(const std::string& size)
        : n(parse_size(size, 4096, 1 << 24)), numbers(static_cast<std::size_t>(n)),
          second(static_cast<std::size_t>(n)) {
        if ((n & (n - 1)) != 0)
            throw std::invalid_argument("size must be a power of two, not '" + size + "'");
    }

    // A permutation of the numbers below n. Each step is one to one modulo the power of two n: to
    // multiply by an odd number, and to fold upper bits into lower ones.
    void prepare() const {
        const auto mask = static_cast<std::uint64_t>(n) - 1;
        for (std::uint64_t i = 0; i <= mask; ++i) {
            std::uint64_t x = i;
            for (int round = 0; round < 3; ++round) {
                x = (x * 0x9e3779b97f4a7c15u + 0x7f4a7c15u) & mask;
                x ^= x >> 7;
            }
            numbers[i] = static_cast<number>(x);
        }
    }
    // Each number must be in its place.
    std::int64_t check() const {
        for (std::int64_t i = 0; i < n; ++i)
            if (numbers[static_cast<std::size_t>(i)] != i) return i;
        return n;
    }
    std::int64_t expected() const { return n; }

    // The number of calls that sort. The calls that merge depend on the numbers.
    static std::int64_t sorts(std::int64_t size) {
        if (size < serial_sort) return 1;
        return 1 + 3 * sorts(size / 4) + sorts(size - size / 4 * 3);
    }
    std::int64_t tasks() const { return sorts(n); }
};

template <class R>
struct cilksort : sorting {
    static constexpr const char* name = "cilksort";
    using sorting::sorting;

    [[gnu::noinline]] static void merge(range a, range b, number* to) {
        if (a.size() < b.size()) std::swap(a, b);
        if (b.size() < serial_merge) return merge_serially(a, b, to);
        const two_merges two = split(a, b, to);
        R::all([&two, to] { merge(two.a1, two.b1, to); },
               [&two] { merge(two.a2, two.b2, two.to2); });
    }

    // excerpt cilksort
    [[gnu::noinline]] static void sort(number* numbers, number* second, std::ptrdiff_t size) {
        if (size < serial_sort) return quicksort(numbers, numbers + size);
        const quarters at(numbers, second, size);
        R::all([&at] { sort(at.a, at.second, at.quarter); },
               [&at] { sort(at.b, at.second + at.quarter, at.quarter); },
               [&at] { sort(at.c, at.half, at.quarter); },
               [&at] { sort(at.d, at.half + at.quarter, at.end - at.d); });
        R::all([&at] { merge(at.range_a(), at.range_b(), at.second); },
               [&at] { merge(at.range_c(), at.range_d(), at.half); });
        merge(at.first_half(), at.second_half(), numbers);
    }
    // excerpt end
    std::int64_t run() const {
        sort(numbers.data(), second.data(), static_cast<std::ptrdiff_t>(n));
        return 0;
    }
};

} // namespace lab
