// SPDX-License-Identifier: Apache-2.0
// par::search_n: searches a number of equal neighbours in a range, in parallel.
//
//     auto silence = sennit::par::search_n(samples, 4800, 0);
//
// Guarantees, exceptions, cancellation and cost as for `par::search`. A place is examined from its
// end, so a mismatch excludes all places in front of it.
#pragma once

#include "sennit/par/search.hpp"

namespace sennit::par {

namespace detail {

struct search_n_calls {
    template <class I, class T, class F, class Proj>
    static constexpr bool accepts =
        projects<Proj, I> && std::predicate<F&, projected_t<I, Proj>, const T&>;

    template <class I, class T, class F, class Proj>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n,
                                        std::iter_difference_t<I> count, const T& value, F& f,
                                        Proj& proj) {
        if (count <= 0) return {first, first};
        const I last = advanced(first, n);
        const auto length = static_cast<std::size_t>(count);
        if (length > n) return {last, last};
        const std::size_t places = n - length + 1;
        const auto examine = [first, length, value = shared_callable<const T>{value},
                              f = shared_callable{f},
                              proj = shared_callable{proj}](std::size_t from, std::size_t to) {
            own_copy<F> matches = f.call;
            own_copy<Proj> part = proj.call;
            while (from < to) {
                std::size_t left = length; // that may match
                while (left != 0 &&
                       std::invoke(matches, std::invoke(part, *advanced(first, from + left - 1)),
                                   value.call))
                    --left;
                if (left == 0) return from;
                from += left;
            }
            return to;
        };
        const std::size_t found = search(options, places, examine);
        if (found == places) return {last, last};
        return {advanced(first, found), advanced(first, found + length)};
    }

    template <std::random_access_iterator I, sized_end_of<I> S, class T,
              class F = std::ranges::equal_to, class Proj = std::identity>
        requires(accepts<I, T, F, Proj>)
    auto operator()(const with& options, I first, S last, std::iter_difference_t<I> count,
                    const T& value, F pred = {}, Proj proj = {}) const {
        return run(options, first, distance_of(first, last), count, value, pred, proj);
    }
    template <divisible_range R, class T, class F = std::ranges::equal_to,
              class Proj = std::identity>
        requires(accepts<std::ranges::iterator_t<R>, T, F, Proj>)
    auto operator()(const with& options, R&& range, std::ranges::range_difference_t<R> count,
                    const T& value, F pred = {}, Proj proj = {}) const {
        return borrowed<R>(
            run(options, std::ranges::begin(range), size_of(range), count, value, pred, proj));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class T,
              class F = std::ranges::equal_to, class Proj = std::identity>
        requires(accepts<I, T, F, Proj>)
    auto operator()(I first, S last, std::iter_difference_t<I> count, const T& value, F pred = {},
                    Proj proj = {}) const {
        return run(automatic, first, distance_of(first, last), count, value, pred, proj);
    }
    template <divisible_range R, class T, class F = std::ranges::equal_to,
              class Proj = std::identity>
        requires(accepts<std::ranges::iterator_t<R>, T, F, Proj>)
    auto operator()(R&& range, std::ranges::range_difference_t<R> count, const T& value,
                    F pred = {}, Proj proj = {}) const {
        return borrowed<R>(
            run(automatic, std::ranges::begin(range), size_of(range), count, value, pred, proj));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::search_n takes the options or nothing, a range or two "
                      "iterators of it, a number, a value, a predicate of an element and the "
                      "value, and a projection");
    }
};

} // namespace detail

// search_n(range, count, value, pred = equal_to, proj = {}), search_n(first, last, count, value,
// …), both with options in front. Blocks until no worker examines an element any more. Returns the
// first `count` neighbours that satisfy pred(proj(element), value), as a subrange; an empty one at
// the end if there are none, and one at the begin if count <= 0. Throws the exception of a place in
// front of the match, and `cancelled`.
inline constexpr detail::algorithm<detail::search_n_calls> search_n{};

} // namespace sennit::par
