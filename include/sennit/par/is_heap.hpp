// SPDX-License-Identifier: Apache-2.0
// par::is_heap, is_heap_until: whether the elements form a heap, in parallel.
//
//     bool valid = sennit::par::is_heap(queue, {}, &job::priority);
//
// Guarantees, exceptions, cancellation and cost as for `par::is_sorted`.
#pragma once

#include "sennit/par/adjacent_find.hpp"

namespace sennit::par {

namespace detail {

struct is_heap_until_algorithm : ordered_elements {
    // Returns the number of leading elements that are a heap.
    template <class I, class Less, class Proj>
    static std::size_t heap_prefix(const with& options, I first, std::size_t n, Less& less,
                                   Proj& proj) {
        if (n < 2) return n;
        const element_order<I, Less, Proj> order{{less}, {proj}};
        return 1 + search(options, n - 1, [first, order](std::size_t from, std::size_t to) {
                   // Element i + 1 must not be greater than its parent, element i / 2.
                   for (; from != to; ++from)
                       if (order(advanced(first, from / 2), advanced(first, from + 1))) break;
                   return from;
               });
    }
    template <class I, class Less, class Proj>
    static I run(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        return advanced(first, heap_prefix(options, first, n, less, proj));
    }
};
struct is_heap_algorithm : ordered_elements {
    template <class I, class Less, class Proj>
    static bool run(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        return is_heap_until_algorithm::heap_prefix(options, first, n, less, proj) == n;
    }
};

} // namespace detail

// is_heap_until(range, comp = less, proj = {}), is_heap_until(first, last, …), both with options in
// front. Blocks until no worker examines an element any more. Returns an iterator to the first
// element that is greater than its parent in the heap, the end if there is none. Throws the
// exception of an element in front of it, and `cancelled`.
inline constexpr detail::algorithm<
    detail::order_calls<detail::is_heap_until_algorithm, std::ranges::less>>
    is_heap_until{};
// Like is_heap_until, but returns whether all elements are a heap.
inline constexpr detail::algorithm<
    detail::order_calls<detail::is_heap_algorithm, std::ranges::less>>
    is_heap{};

} // namespace sennit::par
