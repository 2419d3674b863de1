// SPDX-License-Identifier: Apache-2.0
// par::for_each_n: calls one callable for each of n indices, or for the n elements that start at an
// iterator, in parallel.
//
//     sennit::par::for_each_n(n, [=](std::size_t i) { y[i] += a * x[i]; });
//     sennit::par::for_each_n(rows.begin(), 100, solve);
//
// Use it where the loop needs the index, or where only the first n elements are wanted. For a whole
// range use `par::for_each`.
//
// Guarantees, exceptions and cost as for `par::for_each`. In cheap loops, capture pointers or spans
// by value. The compiler must assume that the stores of the loop change an object behind a
// reference. It then loads that object again for each element, as in a plain loop.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/par/for_each.hpp"

#include <tuple>

namespace sennit::par {

namespace detail {

// Calls `function(i)` for each index of a chunk.
template <class F>
struct visit_indices {
    using value_type = no_value;
    static constexpr bool never_throws = std::is_nothrow_invocable_v<F&, std::size_t>;

    own_copy<F> function;

    [[gnu::always_inline]] void run(std::optional<no_value>&, std::size_t first,
                                    std::size_t last) const {
        own_copy<F> f = function;
        for (std::size_t i = first; i < last; ++i) std::invoke(f, i);
    }
    no_value join(no_value, no_value) const noexcept { return {}; }
};

// The calls that for_each_n accepts, with or without a grain.
template <class First, class Second, class... Rest>
concept visits_indices =
    std::convertible_to<First, std::size_t> && std::invocable<Second&, std::size_t> &&
    sizeof...(Rest) <= 1 && (std::convertible_to<Rest, grain> && ...);
template <class First, class Second, class... Rest>
concept visits_from = std::random_access_iterator<std::decay_t<First>> &&
                      std::convertible_to<Second, std::iter_difference_t<std::decay_t<First>>> &&
                      std::invocable<std::tuple_element_t<0, std::tuple<Rest..., void>>&,
                                     std::iter_reference_t<std::decay_t<First>>> &&
                      sizeof...(Rest) <= 2;

} // namespace detail

// Calls `f(i)` for 0 <= i < count. Blocks until all calls have ended. Throws the exception of the
// lowest index that throws.
template <class F>
    requires std::invocable<F&, std::size_t>
void for_each_n(std::size_t count, F&& f, grain smallest = {}) {
    using work = detail::visit_indices<std::remove_reference_t<F>>;
    detail::run_loop(work{f}, {}, count, smallest);
}

// Visits no element if n <= 0.
template <std::random_access_iterator Iterator, class F>
    requires std::invocable<F&, std::iter_reference_t<Iterator>>
void for_each_n(Iterator first, std::iter_difference_t<Iterator> n, F&& f, grain smallest = {}) {
    using work = detail::visit_elements<Iterator, std::remove_reference_t<F>>;
    detail::run_loop(work{first, f}, {}, n > 0 ? static_cast<std::size_t>(n) : 0, smallest);
}
// Explains a call that the other overloads refuse.
template <class First, class Second, class... Rest>
    requires(!detail::visits_indices<First, Second, Rest...> &&
             !detail::visits_from<First, Second, Rest...>)
base::refused_call for_each_n(First&&, Second&&, Rest&&...) {
    constexpr bool counts = std::convertible_to<First, std::size_t>;
    constexpr bool random = std::random_access_iterator<std::decay_t<First>>;
    static_assert(!counts || base::refused<First>,
                  "sennit: par::for_each_n calls the function with an index; give it one parameter "
                  "of type std::size_t");
    static_assert(counts || random || base::refused<First>,
                  "sennit: par::for_each_n needs random access to the elements; copy the list into "
                  "a std::vector, or spawn a child for each element in a sennit::scope");
    static_assert(counts || !random || base::refused<First>,
                  "sennit: par::for_each_n takes an iterator, a number, and a function that it "
                  "calls with one element; give the function one parameter of that type");
    return {};
}

} // namespace sennit::par
