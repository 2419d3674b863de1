// SPDX-License-Identifier: Apache-2.0
// par::reverse, par::swap_ranges: exchange elements in place, in parallel.
//
//     sennit::par::reverse(history);
//     sennit::par::swap_ranges(front_buffer, back_buffer);
//
// Use them for long ranges, or for elements whose exchange is expensive. The two ranges of
// swap_ranges must not overlap. par::reverse_copy is in sennit/par/copy.hpp.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`. After an exception, some
// elements have been exchanged; none is lost unless its own move throws.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

struct reverse_algorithm {
    template <class I>
    static constexpr bool accepts = std::permutable<I> && !shares_words<I>;
    template <class I>
    static I run(const with& options, I first, std::size_t n) {
        const I last = advanced(first, n);
        run_chunks(options, n / 2, [first, last](std::size_t from, std::size_t to) {
            I low = advanced(first, from);
            I high = last - static_cast<std::iter_difference_t<I>>(from);
            for (; from != to; ++from, (void)++low) std::ranges::iter_swap(low, --high);
        });
        return last;
    }
};

struct swap_ranges_calls {
    template <class I1, class I2>
    static std::ranges::in_in_result<I1, I2> run(const with& options, I1 first1, std::size_t n1,
                                                 I2 first2, std::size_t n2) {
        const std::size_t count = std::min(n1, n2);
        run_chunks(options, count, [first1, first2](std::size_t from, std::size_t to) {
            I1 at1 = advanced(first1, from);
            I2 at2 = advanced(first2, from);
            for (; from != to; ++from, (void)++at1, (void)++at2) std::ranges::iter_swap(at1, at2);
        });
        return {advanced(first1, count), advanced(first2, count)};
    }
    template <class I1, class I2>
    static constexpr bool accepts =
        std::indirectly_swappable<I1, I2> && !shares_words<I1> && !shares_words<I2>;

    template <std::random_access_iterator I1, sized_end_of<I1> S1, std::random_access_iterator I2,
              sized_end_of<I2> S2>
        requires(accepts<I1, I2>)
    auto operator()(const with& options, I1 first1, S1 last1, I2 first2, S2 last2) const {
        return run(options, first1, distance_of(first1, last1), first2, distance_of(first2, last2));
    }
    template <divisible_range R1, divisible_range R2>
        requires(accepts<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>>)
    auto operator()(const with& options, R1&& range1, R2&& range2) const {
        return borrowed_in_in<R1, R2>(run(options, std::ranges::begin(range1), size_of(range1),
                                          std::ranges::begin(range2), size_of(range2)));
    }
    template <std::random_access_iterator I1, sized_end_of<I1> S1, std::random_access_iterator I2,
              sized_end_of<I2> S2>
        requires(accepts<I1, I2>)
    auto operator()(I1 first1, S1 last1, I2 first2, S2 last2) const {
        return (*this)(automatic, first1, last1, first2, last2);
    }
    template <divisible_range R1, divisible_range R2>
        requires(accepts<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>>)
    auto operator()(R1&& range1, R2&& range2) const {
        return (*this)(automatic, std::forward<R1>(range1), std::forward<R2>(range2));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::swap_ranges takes the options or nothing, and two ranges or "
                      "two iterators of each, whose elements can be exchanged");
    }
};

} // namespace detail

// reverse(range), reverse(first, last), both with options in front. Blocks until the order is
// reversed. Returns the end. Throws the exception of an exchange, and `cancelled`.
inline constexpr detail::algorithm<detail::range_calls<detail::reverse_algorithm>> reverse{};

// swap_ranges(range1, range2), swap_ranges(first1, last1, first2, last2), both with options in
// front. Exchanges the elements as far as both ranges reach. Blocks until all are exchanged.
// Returns {in1, in2} where it stopped. Throws the exception of an exchange, and `cancelled`.
inline constexpr detail::algorithm<detail::swap_ranges_calls> swap_ranges{};

} // namespace sennit::par
