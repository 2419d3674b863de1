// SPDX-License-Identifier: Apache-2.0
// par::replace, par::replace_if: assign a new value to the elements that equal a value, or that
// satisfy a predicate, in parallel.
//
//     sennit::par::replace(codes, -1, 0);
//     sennit::par::replace_if(readings, is_noise, 0.0);
//     sennit::par::replace_if(orders, is_open, closed_order, &order::state);
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

template <class I, class Test, class T, class Proj>
I replace_elements(const with& options, I first, std::size_t n, Test& test, const T& value,
                   Proj& proj) {
    run_chunks(options, n,
               [first, test = shared_callable{test}, value = shared_callable<const T>{value},
                proj = shared_callable{proj}](std::size_t from, std::size_t to) {
                   own_copy<Test> matches = test.call;
                   own_copy<const T> own = value.call;
                   own_copy<Proj> part = proj.call;
                   I at = advanced(first, from);
                   for (; from != to; ++from, (void)++at)
                       if (std::invoke(matches, std::invoke(part, *at))) *at = own;
               });
    return advanced(first, n);
}

struct replace_if_algorithm {
    template <class I, class Test, class T, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj> && writes<const T&, I>;
    template <class I, class Test, class T, class Proj>
    static I run(const with& options, I first, std::size_t n, Test& test, const T& value,
                 Proj& proj) {
        return replace_elements(options, first, n, test, value, proj);
    }
};
struct replace_algorithm {
    template <class I, class Old, class T, class Proj>
    static constexpr bool accepts = equals_elements<Old, I, Proj> && writes<const T&, I>;
    template <class I, class Old, class T, class Proj>
    static I run(const with& options, I first, std::size_t n, const Old& old, const T& value,
                 Proj& proj) {
        const auto equals = equality_with(old);
        return replace_elements(options, first, n, equals, value, proj);
    }
};

// algorithm(range, value or predicate, new value, projection), also with two iterators.
template <class Algorithm>
struct replace_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, class A, class T,
              class Proj = std::identity>
        requires(Algorithm::template accepts<I, std::remove_reference_t<A>, T, Proj>)
    I operator()(const with& options, I first, S last, A&& which, const T& value,
                 Proj proj = {}) const {
        return Algorithm::run(options, first, distance_of(first, last), which, value, proj);
    }
    template <divisible_range R, class A, class T, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>, std::remove_reference_t<A>,
                                             T, Proj>)
    auto operator()(const with& options, R&& range, A&& which, const T& value,
                    Proj proj = {}) const {
        return borrowed_iterator<R>(
            Algorithm::run(options, std::ranges::begin(range), size_of(range), which, value, proj));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class A, class T,
              class Proj = std::identity>
        requires(Algorithm::template accepts<I, std::remove_reference_t<A>, T, Proj>)
    I operator()(I first, S last, A&& which, const T& value, Proj proj = {}) const {
        return Algorithm::run(automatic, first, distance_of(first, last), which, value, proj);
    }
    template <divisible_range R, class A, class T, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>, std::remove_reference_t<A>,
                                             T, Proj>)
    auto operator()(R&& range, A&& which, const T& value, Proj proj = {}) const {
        return borrowed_iterator<R>(Algorithm::run(automatic, std::ranges::begin(range),
                                                   size_of(range), which, value, proj));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, the elements, "
                      "a value (or a predicate of one element), and a new value that the elements "
                      "can be assigned from");
    }
};

} // namespace detail

// replace(range, old_value, new_value, proj = {}), replace(first, last, …), both with options in
// front. Assigns new_value to each element with proj(element) == old_value. The values must not be
// elements of the range. Blocks until all elements are examined. Returns the end. Throws the
// exception of the first element that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::replace_calls<detail::replace_algorithm>> replace{};

// Like replace, for each element that satisfies pred(proj(element)). Forms, result and exceptions
// are those of replace.
inline constexpr detail::algorithm<detail::replace_calls<detail::replace_if_algorithm>>
    replace_if{};

} // namespace sennit::par
