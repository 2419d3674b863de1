// SPDX-License-Identifier: Apache-2.0
// par::adjacent_find, is_sorted, is_sorted_until, is_partitioned: questions about the order of the
// elements, in parallel. They stop at the first place that decides.
//
//     auto twice = sennit::par::adjacent_find(sorted_keys);
//     bool sorted = sennit::par::is_sorted(orders, {}, &order::due);
//
// Guarantees, exceptions, cancellation and cost as for `par::find_if`: the comparison may be called
// for some elements behind the place that decides.
#pragma once

#include "sennit/par/find.hpp"
#include "sennit/par/min_max.hpp"

namespace sennit::par {

namespace detail {

// Returns the first index i < n - 1 with test(i-th element, the one behind it), or n - 1.
template <class I, class Test>
std::size_t find_neighbours(const with& options, I first, std::size_t n, const Test& test) {
    if (n < 2) return n;
    const std::size_t pairs = n - 1;
    const std::size_t found =
        search(options, pairs, [first, test](std::size_t from, std::size_t to) {
            const I begin = advanced(first, from);
            const I end = advanced(first, to);
            for (I low = begin; low != end;) {
                I high = low;
                ++high;
                if (test(low, high)) return from + static_cast<std::size_t>(low - begin);
                low = high;
            }
            return to;
        });
    return found == pairs ? n : found;
}

struct adjacent_find_algorithm : ordered_elements {
    template <class I, class Test, class Proj>
    static I run(const with& options, I first, std::size_t n, Test& test, Proj& proj) {
        const element_order<I, Test, Proj> equal{{test}, {proj}};
        return advanced(first, find_neighbours(options, first, n, equal));
    }
};

// Returns the number of leading elements that are sorted.
template <class I, class Less, class Proj>
std::size_t sorted_prefix(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
    const element_order<I, Less, Proj> order{{less}, {proj}};
    const std::size_t found = find_neighbours(
        options, first, n, [order](const I& low, const I& high) { return order(high, low); });
    return found == n ? n : found + 1;
}
struct is_sorted_until_algorithm : ordered_elements {
    template <class I, class Less, class Proj>
    static I run(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        return advanced(first, sorted_prefix(options, first, n, less, proj));
    }
};
struct is_sorted_algorithm : ordered_elements {
    template <class I, class Less, class Proj>
    static bool run(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        return sorted_prefix(options, first, n, less, proj) == n;
    }
};

struct is_partitioned_algorithm {
    template <class I, class Test, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj>;
    template <class I, class Test, class Proj>
    static bool run(const with& options, I first, std::size_t n, Test& test, Proj& proj) {
        const std::size_t half = find_index<false>(options, first, n, test, proj, false);
        if (half == n) return true;
        const std::size_t rest = n - half - 1;
        return find_index<true>(options, advanced(first, half + 1), rest, test, proj, true) == rest;
    }
};

} // namespace detail

// adjacent_find(range, pred = equal_to, proj = {}), adjacent_find(first, last, …), both with
// options in front. Blocks until no worker examines an element any more. Returns an iterator to the
// first element that satisfies pred together with the next one, the end if there is none. Throws
// the exception of an element in front of the match, and `cancelled`.
inline constexpr detail::algorithm<
    detail::order_calls<detail::adjacent_find_algorithm, std::ranges::equal_to>>
    adjacent_find{};
// is_sorted_until(range, comp = less, proj = {}), is_sorted_until(first, last, …), both with
// options in front. Returns an iterator to the first element that is less than the one before it,
// the end if there is none. Blocks and throws like adjacent_find.
inline constexpr detail::algorithm<
    detail::order_calls<detail::is_sorted_until_algorithm, std::ranges::less>>
    is_sorted_until{};
// Like is_sorted_until, but returns whether all elements are sorted.
inline constexpr detail::algorithm<
    detail::order_calls<detail::is_sorted_algorithm, std::ranges::less>>
    is_sorted{};
// is_partitioned(range, pred, proj = {}), is_partitioned(first, last, …), both with options in
// front. Returns true if no element that satisfies pred stands behind an element that does not.
// Blocks and throws like adjacent_find.
inline constexpr detail::element_algorithm<detail::is_partitioned_algorithm> is_partitioned{};

} // namespace sennit::par
