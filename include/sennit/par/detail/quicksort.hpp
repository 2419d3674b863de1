// SPDX-License-Identifier: Apache-2.0
// quicksort: the parallel sort that is not stable, in place.
//
// Each partition forks its two sides, so the first partition is serial. Ranges of up to `small`
// elements are sorted by insertion. A range whose partitions are uneven too often is sorted by
// heap, which bounds the time by n log n.
//
// Safety. The range is a permutation of its elements whenever the comparison runs: partitions and
// the heap exchange whole elements, and the insertion puts the element that it holds back when it
// is left. So a comparison may throw. All indices are counted, none is bounded by the result of a
// comparison. So an inconsistent comparison cannot leave the range, and each step makes the range
// shorter.
#pragma once

#include "sennit/par/detail/call_forms.hpp"
#include "sennit/par/detail/fork_in_loop.hpp"

#include <bit>

namespace sennit::par::detail {

// Compares two elements, projected.
template <class Less, class Proj>
struct value_order {
    [[no_unique_address]] shared_callable<Less> less;
    [[no_unique_address]] shared_callable<Proj> proj;

    template <class A, class B>
    [[gnu::always_inline]] bool operator()(A&& a, B&& b) const {
        own_copy<Less> compare = less.call;
        own_copy<Proj> part = proj.call;
        return static_cast<bool>(std::invoke(compare, std::invoke(part, std::forward<A>(a)),
                                             std::invoke(part, std::forward<B>(b))));
    }
};

// Sorts by insertion; stable. The destructor of `hole` puts the element back that is on its way.
template <class I, class Order>
void insertion_sort(I first, std::size_t n, const Order& less) {
    struct hole {
        I at;
        std::iter_value_t<I> value;
        ~hole() noexcept(std::is_nothrow_move_assignable_v<std::iter_value_t<I>>) {
            *at = std::move(value);
        }
    };
    for (std::size_t i = 1; i < n; ++i) {
        I at = advanced(first, i);
        if (!less(*at, *(at - 1))) continue;
        hole moved{at, std::ranges::iter_move(at)};
        do {
            *moved.at = std::ranges::iter_move(moved.at - 1);
            --moved.at;
        } while (moved.at != first && less(std::as_const(moved.value), *(moved.at - 1)));
    }
}

// Returns the number of leading elements for which `test` holds, if it holds for no element behind
// them.
template <class From, class Test>
std::size_t leading_count(From first, std::size_t n, const Test& test) {
    std::size_t low = 0;
    while (n > 0) {
        const std::size_t half = n / 2;
        if (test(*advanced(first, low + half))) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

template <class I, class Order>
void heap_sort(I first, std::size_t n, const Order& less) {
    const auto sift = [&](std::size_t root, std::size_t end) {
        for (std::size_t child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && less(*advanced(first, child), *advanced(first, child + 1)))
                ++child;
            if (!less(*advanced(first, root), *advanced(first, child))) return;
            std::ranges::iter_swap(advanced(first, root), advanced(first, child));
        }
    };
    for (std::size_t root = n / 2; root-- > 0;) sift(root, n);
    for (std::size_t end = n; --end > 0;) {
        std::ranges::iter_swap(first, advanced(first, end));
        sift(0, end);
    }
}

template <class I, class Order>
class quicksort {
public:
    quicksort(loop_control& loop, const Order& less) : loop_(loop), less_(less) {}

    void run(I first, std::size_t n) {
        sort(first, n, 2 * static_cast<unsigned>(std::bit_width(n)), true);
    }

private:
    using value = std::iter_value_t<I>;
    static constexpr std::size_t small = 24;
    static constexpr std::size_t ninther = 128;
    // A fork costs about 1 ns; half a range of this length takes some microseconds.
    static constexpr std::size_t forked = 512;
    static constexpr bool branchless = cheap_to_exchange<I>;

    // `budget` is the number of uneven partitions that are left. `leftmost` is false if the element
    // before `first` is not greater than any element of the range.
    void sort(I first, std::size_t n, unsigned budget, bool leftmost) {
        while (n > small) {
            choose_pivot(first, n);
            if (!leftmost && !less_(*(first - 1), *first)) {
                // The pivot equals the element before the range, which is a least one. The elements
                // that are not greater are equal, and in place.
                const std::size_t equal = partition(
                    first, n, [&](auto&& element, auto&& pivot) { return !less_(pivot, element); });
                first = advanced(first, equal + 1);
                n -= equal + 1;
                continue;
            }
            const std::size_t left = partition(
                first, n, [&](auto&& element, auto&& pivot) { return less_(element, pivot); });
            const std::size_t right = n - left - 1;
            const I after = advanced(first, left + 1);
            if (left < n / 8 || right < n / 8) {
                if (budget-- == 0) return heap_sort(first, n, less_);
                scatter(first, left);
                scatter(after, right);
            }
            if (n > forked) {
                if (loop_.in_scope() && loop_.dropped(0)) throw sennit::cancelled();
                auto lower = [this, first, left, budget, leftmost] {
                    sort(first, left, budget, leftmost);
                };
                auto upper = [this, after, right, budget] { sort(after, right, budget, false); };
                return fork_in_loop(loop_, lower, upper);
            }
            sort(first, left, budget, leftmost);
            first = after;
            n = right;
            leftmost = false;
        }
        insertion_sort(first, n, less_);
    }

    void sort3(I a, I b, I c) {
        if (less_(*b, *a)) std::ranges::iter_swap(a, b);
        if (less_(*c, *b)) std::ranges::iter_swap(b, c);
        if (less_(*b, *a)) std::ranges::iter_swap(a, b);
    }
    // Moves the median of three or nine elements to the front.
    void choose_pivot(I first, std::size_t n) {
        const I middle = advanced(first, n / 2);
        const I last = advanced(first, n - 1);
        if (n > ninther) {
            sort3(first, middle, last);
            sort3(first + 1, middle - 1, last - 1);
            sort3(first + 2, middle + 1, last - 2);
            sort3(middle - 1, middle, middle + 1);
            std::ranges::iter_swap(first, middle);
        } else {
            sort3(middle, first, last);
        }
    }
    // Breaks a pattern that made a partition uneven.
    static void scatter(I first, std::size_t n) {
        if (n <= small) return;
        const std::size_t quarter = n / 4;
        for (std::size_t i = 0; i < (n > ninther ? 3u : 1u); ++i) {
            std::ranges::iter_swap(advanced(first, i), advanced(first, quarter + i));
            std::ranges::iter_swap(advanced(first, n - 1 - i),
                                   advanced(first, n - 1 - quarter - i));
        }
    }

    // Puts the elements of (first, first + n) that go to the left in front of the others, and the
    // pivot *first between both. Returns the number of elements to the left of the pivot.
    template <class GoesLeft>
    static std::size_t partition(I first, std::size_t n, const GoesLeft& goes_left) {
        std::size_t left = 0;
        if constexpr (branchless) {
            value* const rest = std::to_address(first) + 1;
            const value pivot = *first; // a copy; the element itself stays in its place
            for (std::size_t i = 0; i + 1 < n; ++i) {
                const value moved = rest[i];
                const bool goes = goes_left(moved, pivot);
                rest[i] = rest[left];
                rest[left] = moved;
                left += goes;
            }
        } else {
            std::size_t low = 1;
            std::size_t high = n;
            for (;;) {
                while (low < high && goes_left(*advanced(first, low), *first)) ++low;
                while (low < high && !goes_left(*advanced(first, high - 1), *first)) --high;
                if (low >= high) break;
                std::ranges::iter_swap(advanced(first, low++), advanced(first, --high));
            }
            left = low - 1;
        }
        std::ranges::iter_swap(first, advanced(first, left));
        return left;
    }

    loop_control& loop_;
    const Order less_;
};

} // namespace sennit::par::detail
