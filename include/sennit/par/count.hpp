// SPDX-License-Identifier: Apache-2.0
// par::count, par::count_if: count the elements that equal a value, or that satisfy a predicate, in
// parallel.
//
//     auto empty = sennit::par::count(cells, 0);
//     auto open = sennit::par::count_if(orders, is_open, &order::state);
//
// The predicate is called once for each element. To learn only whether there is one, use
// `par::any_of`, which stops early.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

template <class I, class Test, class Proj>
std::iter_difference_t<I> count_elements(const with& options, I first, std::size_t n, Test& test,
                                         Proj& proj) {
    using count = std::iter_difference_t<I>;
    const auto counted = run_values<count>(
        options, n,
        [first, test = shared_callable{test}, proj = shared_callable{proj}](std::size_t from,
                                                                            std::size_t to) {
            own_copy<Test> matches = test.call;
            own_copy<Proj> part = proj.call;
            I at = advanced(first, from);
            count found = 0;
            for (; from != to; ++from, (void)++at)
                if (std::invoke(matches, std::invoke(part, *at))) ++found;
            return found;
        },
        [](count low, count high) noexcept { return low + high; });
    return counted.value_or(0);
}

struct count_if_algorithm {
    template <class I, class Test, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj>;
    template <class I, class Test, class Proj>
    static std::iter_difference_t<I> run(const with& options, I first, std::size_t n, Test& test,
                                         Proj& proj) {
        return count_elements(options, first, n, test, proj);
    }
};

struct count_algorithm {
    template <class I, class T, class Proj>
    static constexpr bool accepts = equals_elements<T, I, Proj>;
    template <class I, class T, class Proj>
    static std::iter_difference_t<I> run(const with& options, I first, std::size_t n, T& value,
                                         Proj& proj) {
        const auto equals = equality_with(std::as_const(value));
        return count_elements(options, first, n, equals, proj);
    }
};

} // namespace detail

// count(range, value, proj = {}), count(first, last, value, proj = {}), both with options in front.
// Blocks until all elements are examined. Returns the number of elements with
// proj(element) == value. Throws the exception of the first element that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::element_calls<detail::count_algorithm>> count{};

// Like count, for elements that satisfy pred(proj(element)).
inline constexpr detail::algorithm<detail::element_calls<detail::count_if_algorithm>> count_if{};

} // namespace sennit::par
