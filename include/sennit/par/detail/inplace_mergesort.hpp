// SPDX-License-Identifier: Apache-2.0
// inplace_mergesort: the stable sort that needs no room, in O(n log² n). stable_sort uses it when
// the memory is refused, and for elements whose moves may throw.
//
// A merge divides both runs at one element of the longer run, rotates the two inner parts, and
// merges both sides. The comparison is called only between complete rotations. So the range is a
// permutation of its elements whenever a comparison throws.
#pragma once

#include "sennit/par/detail/quicksort.hpp"

namespace sennit::par::detail {

template <class I, class Order>
class inplace_mergesort {
public:
    inplace_mergesort(loop_control& loop, const Order& less) : loop_(loop), less_(less) {}

    void run(I first, std::size_t n) {
        if (n <= small) return insertion_sort(first, n, less_);
        if (n > forked && loop_.in_scope() && loop_.dropped(0)) throw sennit::cancelled();
        const std::size_t half = n / 2;
        auto lower = [&, this] { run(first, half); };
        auto upper = [&, this] { run(advanced(first, half), n - half); };
        if (n > forked) {
            fork_in_loop(loop_, lower, upper);
        } else {
            lower();
            upper();
        }
        merge(first, half, n - half);
    }

    // Merges the sorted runs of n1 and n2 elements at `first`.
    void merge(I first, std::size_t n1, std::size_t n2) {
        if (n1 == 0 || n2 == 0) return;
        const I middle = advanced(first, n1);
        if (n1 + n2 == 2) {
            if (less_(*middle, *first)) std::ranges::iter_swap(first, middle);
            return;
        }
        std::size_t i = n1 / 2;
        std::size_t j = n2 / 2;
        if (n1 >= n2)
            j = leading_count(middle, n2,
                              [&](auto&& element) { return less_(element, *advanced(first, i)); });
        else
            i = leading_count(
                first, n1, [&](auto&& element) { return !less_(*advanced(middle, j), element); });
        std::ranges::rotate(advanced(first, i), middle, advanced(middle, j));
        auto lower = [&, this] { merge(first, i, j); };
        auto upper = [&, this] { merge(advanced(first, i + j), n1 - i, n2 - j); };
        if (n1 + n2 > forked) {
            fork_in_loop(loop_, lower, upper);
        } else {
            lower();
            upper();
        }
    }

private:
    static constexpr std::size_t small = 24;
    static constexpr std::size_t forked = 1024;

    loop_control& loop_;
    const Order less_;
};

} // namespace sennit::par::detail
