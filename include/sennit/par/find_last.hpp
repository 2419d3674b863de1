// SPDX-License-Identifier: Apache-2.0
// par::find_last, find_last_if, find_last_if_not: search a range for the last match, in parallel,
// from the back.
//
//     auto [at, end] = sennit::par::find_last(log, sennit_id, &entry::id);
//
// Guarantees, exceptions, cancellation and cost as for `par::find`, with the order of the elements
// reversed: the predicate may be called for some elements in front of the match, and a match near
// the end is found soon.
#pragma once

#include "sennit/par/find.hpp"

namespace sennit::par {

namespace detail {

template <bool Wanted>
struct find_last_if_algorithm {
    template <class I, class Test, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj>;
    template <class I, class Test, class Proj>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n, Test& test,
                                        Proj& proj) {
        const I last = advanced(first, n);
        const std::size_t found = search(
            options, n,
            [last, test = shared_callable{test}, proj = shared_callable{proj}](std::size_t from,
                                                                               std::size_t to) {
                own_copy<Test> matches = test.call;
                own_copy<Proj> part = proj.call;
                I at = last - static_cast<std::iter_difference_t<I>>(from);
                for (; from != to; ++from)
                    if (static_cast<bool>(std::invoke(matches, std::invoke(part, *--at))) == Wanted)
                        break;
                return from;
            });
        if (found == n) return {last, last};
        return {advanced(first, n - 1 - found), last};
    }
};

struct find_last_algorithm {
    template <class I, class T, class Proj>
    static constexpr bool accepts = equals_elements<T, I, Proj>;
    template <class I, class T, class Proj>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n, T& value,
                                        Proj& proj) {
        const auto equals = equality_with(std::as_const(value));
        return find_last_if_algorithm<true>::run(options, first, n, equals, proj);
    }
};

} // namespace detail

// find_last(range, value, proj = {}), find_last(first, last, value, proj = {}), both with options
// in front. Blocks until no worker examines an element any more. Returns the subrange from the last
// element with proj(element) == value to the end; an empty one at the end if there is none. Throws
// the exception of an element behind the match, and `cancelled`.
inline constexpr detail::element_algorithm<detail::find_last_algorithm> find_last{};
// Like find_last, for the last element that satisfies pred(proj(element)).
inline constexpr detail::element_algorithm<detail::find_last_if_algorithm<true>> find_last_if{};
// Like find_last, for the last element that does not satisfy pred(proj(element)).
inline constexpr detail::element_algorithm<detail::find_last_if_algorithm<false>>
    find_last_if_not{};

} // namespace sennit::par
