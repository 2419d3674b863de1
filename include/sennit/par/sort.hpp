// SPDX-License-Identifier: Apache-2.0
// par::sort, par::stable_sort: sort a range in parallel.
//
//     sennit::par::sort(numbers);
//     sennit::par::sort(orders, std::ranges::greater(), &order::price);
//     sennit::par::stable_sort({.max_workers = 4}, orders, {}, &order::customer);
//
// sort works in place. It does not keep the order of equal elements, but its result does not depend
// on the number of workers. stable_sort keeps that order. It needs room for all elements. If the
// memory is refused, or if a move of the elements may throw, it sorts in place, in O(n log² n).
// Equal integers cannot be told apart, so stable_sort with `less` or `greater` does what sort does.
//
// Guarantees. The comparison and the projection are called by several workers at the same time. The
// range is a permutation of its elements afterwards, also if a comparison throws or is inconsistent
// (no strict weak order, for example with NaN); the order is then unspecified. Only a move of an
// element that throws can lose elements. Comparisons may wait in any call of Sennit.
//
// Exceptions. The sort throws one of the exceptions of its comparisons. Cancellation: the parts of
// the sort that have not started are dropped, and the sort throws `cancelled`.
//
// Cost: O(n log n) comparisons in all cases. The first partition of sort, which takes about 1 ns an
// element for numbers, runs on one worker. The serial parts use branch-free code for trivially
// copyable elements of at most 16 bytes.
#pragma once

#include "sennit/par/adjacent_find.hpp"
#include "sennit/par/detail/inplace_mergesort.hpp"
#include "sennit/par/detail/mergesort.hpp"
#include "sennit/par/detail/quicksort.hpp"
#include "sennit/par/reverse.hpp"

#include <concepts>
#include <functional>
#include <memory>

namespace sennit::par {

namespace detail {

// Calls `function(first)` with pointers in place of iterators of an array.
template <class I, class F>
void on_pointers(I first, std::size_t n, F&& function) {
    if constexpr (std::contiguous_iterator<I>)
        function(n == 0 ? nullptr : std::to_address(first));
    else
        function(first);
}

// Runs a sort on a worker.
template <class F>
void run_sort(F&& sort) {
    if (sched::free_slot())
        sort();
    else
        sennit::detail::on_default_runtime(sort);
}

struct sort_algorithm {
    template <class I, class Less, class Proj>
    static constexpr bool accepts = std::sortable<I, Less, Proj> && !shares_words<I>;

    template <class I, class Less, class Proj>
    static I run(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        if (n > 1 && !is_trivially_done(options, first, n, less, proj)) {
            loop_control loop(options);
            const value_order<Less, Proj> order{{less}, {proj}};
            on_pointers(first, n, [&]<class At>(At at) {
                quicksort<At, value_order<Less, Proj>> sorter(loop, order);
                run_sort([&] { sorter.run(at, n); });
            });
        }
        return advanced(first, n);
    }

private:
    // True if the elements were ascending, or strictly descending, and are sorted now. The question
    // is answered after a few elements in most cases.
    template <class I, class Less, class Proj>
    static bool is_trivially_done(const with& options, I first, std::size_t n, Less& less,
                                  Proj& proj) {
        const element_order<I, Less, Proj> order{{less}, {proj}};
        if (order(first + 1, first)) {
            const std::size_t found = find_neighbours(
                options, first, n, [order](const I& a, const I& b) { return !order(b, a); });
            if (found != n) return false;
            reverse_algorithm::run(options, first, n);
            return true;
        }
        return sorted_prefix(options, first, n, less, proj) == n;
    }
};

// True if equal elements cannot be told apart, so that each sort keeps their order.
template <class I, class Less, class Proj>
inline constexpr bool equal_elements_are_same =
    std::contiguous_iterator<I> && std::integral<std::iter_value_t<I>> &&
    std::same_as<Proj, std::identity> &&
    (std::same_as<Less, std::ranges::less> || std::same_as<Less, std::ranges::greater> ||
     std::same_as<Less, std::less<>> || std::same_as<Less, std::greater<>>);

struct stable_sort_algorithm {
    template <class I, class Less, class Proj>
    static constexpr bool accepts = sort_algorithm::accepts<I, Less, Proj>;

    template <class I, class Less, class Proj>
    static I run(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        if constexpr (equal_elements_are_same<I, Less, Proj>)
            return sort_algorithm::run(options, first, n, less, proj);
        else
            return merge_sort(options, first, n, less, proj);
    }

private:
    template <class I, class Less, class Proj>
    static I merge_sort(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        using value = std::iter_value_t<I>;
        if (n < 2) return advanced(first, n);
        if constexpr (std::is_nothrow_move_constructible_v<value> &&
                      std::is_nothrow_move_assignable_v<value>) {
            if (sorted_prefix(options, first, n, less, proj) == n) return advanced(first, n);
            const sort_room<value> room(n);
            if (room.get()) {
                loop_control loop(options);
                const value_order<Less, Proj> order{{less}, {proj}};
                on_pointers(first, n, [&]<class At>(At at) {
                    mergesort<At, value_order<Less, Proj>> sorter(loop, order, room.get());
                    run_sort([&] { sorter.run(at, n); });
                });
                return advanced(first, n);
            }
        }
        loop_control loop(options);
        const value_order<Less, Proj> order{{less}, {proj}};
        on_pointers(first, n, [&]<class At>(At at) {
            inplace_mergesort<At, value_order<Less, Proj>> sorter(loop, order);
            run_sort([&] { sorter.run(at, n); });
        });
        return advanced(first, n);
    }
};

} // namespace detail

// sort(range, comp = less, proj = {}), sort(first, last, …), both with options in front. Blocks
// until the range is sorted. Returns the end. Throws as the head of this file says.
inline constexpr detail::algorithm<detail::order_calls<detail::sort_algorithm, std::ranges::less>>
    sort{};

// Like sort, but keeps the order of equal elements. Needs n elements of room, except for integers.
inline constexpr detail::algorithm<
    detail::order_calls<detail::stable_sort_algorithm, std::ranges::less>>
    stable_sort{};

} // namespace sennit::par
