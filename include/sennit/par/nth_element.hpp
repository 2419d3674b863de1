// SPDX-License-Identifier: Apache-2.0
// par::nth_element, par::partial_sort: put a part of the sorted order into place, in parallel.
//
//     sennit::par::nth_element(times, times.begin() + times.size() / 2); // the median
//     sennit::par::partial_sort(scores, scores.begin() + 10, std::ranges::greater());
//
// Both work in place and do not keep the order of equal elements. Guarantees, exceptions and
// cancellation as for `par::sort`: the range is a permutation of its elements afterwards, also if a
// comparison throws or is inconsistent.
//
// Cost: nth_element makes 2 to 4 comparisons for each element if the order of the elements is
// random, and O(n log n) at worst. partial_sort sorts the front after that. No allocation.
#pragma once

#include "sennit/par/partition.hpp"
#include "sennit/par/sort.hpp"

#include <array>
#include <bit>

namespace sennit::par {

namespace detail {

// Calls with a place in the range: algorithm(range, place, comparison = Default, projection),
// algorithm(first, place, last, …).
template <class Algorithm, class Default>
struct place_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, class F = Default,
              class Proj = std::identity>
        requires(Algorithm::template accepts<I, F, Proj>)
    I operator()(const with& options, I first, I place, S last, F compare = {},
                 Proj proj = {}) const {
        const std::size_t n = distance_of(first, last);
        Algorithm::run(options, first, distance_of(first, place), n, compare, proj);
        return advanced(first, n);
    }
    template <divisible_range R, class F = Default, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>, F, Proj>)
    std::ranges::borrowed_iterator_t<R> operator()(const with& options, R&& range,
                                                   std::ranges::iterator_t<R> place, F compare = {},
                                                   Proj proj = {}) const {
        const auto first = std::ranges::begin(range);
        return borrowed_iterator<R>(
            (*this)(options, first, place, advanced(first, size_of(range)), compare, proj));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class F = Default,
              class Proj = std::identity>
        requires(Algorithm::template accepts<I, F, Proj>)
    I operator()(I first, I place, S last, F compare = {}, Proj proj = {}) const {
        return (*this)(automatic, first, place, last, compare, proj);
    }
    template <divisible_range R, class F = Default, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>, F, Proj>)
    std::ranges::borrowed_iterator_t<R> operator()(R&& range, std::ranges::iterator_t<R> place,
                                                   F compare = {}, Proj proj = {}) const {
        return (*this)(automatic, std::forward<R>(range), place, compare, proj);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, a range and "
                      "an iterator into it (or three iterators of the range), a comparison of two "
                      "elements, and a projection");
    }
};

struct nth_element_algorithm {
    template <class I, class Less, class Proj>
    static constexpr bool accepts = sort_algorithm::accepts<I, Less, Proj>;

    template <class I, class Less, class Proj>
    static void run(const with& options, I first, std::size_t nth, std::size_t n, Less& less,
                    Proj& proj) {
        if (nth >= n) return;
        const value_order<Less, Proj> order{{less}, {proj}};
        on_pointers(first, n, [&]<class At>(At at) { select(options, at, nth, n, order); });
    }

private:
    // The last elements are sorted.
    static constexpr std::size_t small = 64;
    static constexpr std::size_t samples = 9;

    // Narrows the range around `nth` by partitions until it is small.
    template <class I, class Order>
    static void select(const with& options, I first, std::size_t nth, std::size_t n,
                       const Order& less) {
        std::size_t low = 0;
        std::size_t high = n;
        for (unsigned budget = 2 * static_cast<unsigned>(std::bit_width(n));
             high - low > small && budget > 0; --budget) {
            const I pivot = advanced(first, low);
            choose_pivot(pivot, high - low, less);
            const std::size_t left =
                partition_elements(options, pivot + 1, high - low - 1,
                                   [&](auto&& element) { return less(element, *pivot); });
            if (left == 0) {
                // The pivot is a least element. All elements that equal it go in front.
                const std::size_t equal =
                    partition_elements(options, pivot + 1, high - low - 1,
                                       [&](auto&& element) { return !less(*pivot, element); });
                low += 1 + equal;
                if (nth < low) return;
                continue;
            }
            const std::size_t place = low + left;
            std::ranges::iter_swap(pivot, advanced(first, place));
            if (nth == place) return;
            if (nth < place)
                high = place;
            else
                low = place + 1;
        }
        loop_control loop(options);
        quicksort<I, Order> sorter(loop, less);
        run_sort([&] { sorter.run(advanced(first, low), high - low); });
    }

    // Moves the median of some elements to the front.
    template <class I, class Order>
    static void choose_pivot(I first, std::size_t n, const Order& less) {
        std::array<std::size_t, samples> at;
        for (std::size_t i = 0; i < samples; ++i) {
            at[i] = i * (n - 1) / (samples - 1);
            for (std::size_t k = i;
                 k > 0 && less(*advanced(first, at[k]), *advanced(first, at[k - 1])); --k)
                std::swap(at[k], at[k - 1]);
        }
        std::ranges::iter_swap(first, advanced(first, at[samples / 2]));
    }
};

struct partial_sort_algorithm {
    template <class I, class Less, class Proj>
    static constexpr bool accepts = sort_algorithm::accepts<I, Less, Proj>;

    template <class I, class Less, class Proj>
    static void run(const with& options, I first, std::size_t sorted, std::size_t n, Less& less,
                    Proj& proj) {
        nth_element_algorithm::run(options, first, sorted, n, less, proj);
        sort_algorithm::run(options, first, std::min(sorted, n), less, proj);
    }
};

} // namespace detail

// nth_element(range, nth, comp = less, proj = {}), nth_element(first, nth, last, …), both with
// options in front. Blocks until *nth is the element that a sort would put there, no element in
// front of it is greater, and no element behind it is less. Returns the end. Throws as the head of
// this file says.
inline constexpr detail::algorithm<
    detail::place_calls<detail::nth_element_algorithm, std::ranges::less>>
    nth_element{};

// partial_sort(range, middle, …), partial_sort(first, middle, last, …): sorts the smallest elements
// into [first, middle). The order of the others is unspecified. Returns the end.
inline constexpr detail::algorithm<
    detail::place_calls<detail::partial_sort_algorithm, std::ranges::less>>
    partial_sort{};

} // namespace sennit::par
