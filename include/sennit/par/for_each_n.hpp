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
// Guarantees, exceptions, cancellation and cost as for `par::for_each`. In cheap loops, capture
// pointers or spans by value. The compiler must assume that the stores of the loop change an object
// behind a reference. It then loads that object again for each element, as in a plain loop.
#pragma once

#include "sennit/par/for_each.hpp"

namespace sennit::par {

namespace detail {

template <class F>
void visit_indices(const with& options, std::size_t count, F& f) {
    run_chunks(options, count,
               [f = shared_callable{f}](std::size_t from, std::size_t to) noexcept(
                   std::is_nothrow_invocable_v<F&, std::size_t>) {
                   own_copy<F> call = f.call;
                   for (std::size_t i = from; i < to; ++i) std::invoke(call, i);
               });
}

// The arguments that look like a number of indices.
template <class N>
concept index_count = std::convertible_to<N, std::size_t>;

// A negative number counts as 0.
template <class N>
std::size_t to_count(N count) {
    if constexpr (std::signed_integral<N>)
        if (count < 0) return 0;
    return static_cast<std::size_t>(count);
}

struct for_each_n_calls {
    template <index_count N, class F>
        requires std::invocable<F&, std::size_t>
    void operator()(const with& options, N count, F&& f) const {
        visit_indices(options, to_count(count), f);
    }
    template <index_count N, class F>
        requires std::invocable<F&, std::size_t>
    void operator()(N count, F&& f) const {
        visit_indices(automatic, to_count(count), f);
    }
    template <std::random_access_iterator I, class F, class Proj = std::identity>
        requires(for_each_algorithm::accepts<I, std::remove_reference_t<F>, Proj>)
    I operator()(const with& options, I first, std::iter_difference_t<I> n, F&& f,
                 Proj proj = {}) const {
        return visit_elements(options, first, to_count(n), f, proj);
    }
    template <std::random_access_iterator I, class F, class Proj = std::identity>
        requires(for_each_algorithm::accepts<I, std::remove_reference_t<F>, Proj>)
    I operator()(I first, std::iter_difference_t<I> n, F&& f, Proj proj = {}) const {
        return (*this)(automatic, first, n, f, proj);
    }

    template <class... Args>
    static constexpr void refuse() {
        constexpr bool counts = (index_count<Args> || ...);
        constexpr bool iterates = (std::random_access_iterator<std::decay_t<Args>> || ...);
        static_assert(iterates || !counts || base::refused<Args...>,
                      "sennit: par::for_each_n calls the function with an index; give it one "
                      "parameter of type std::size_t");
        static_assert((counts && !iterates) || base::refused<Args...>,
                      "sennit: par::for_each_n takes an iterator, a number, and a function that it "
                      "calls with one element; give the function one parameter of that type");
    }
};

} // namespace detail

// for_each_n(count, f): calls `f(i)` for 0 <= i < count, i a std::size_t.
// for_each_n(first, n, f, proj = {}): calls `f(proj(element))` for n elements, none if n <= 0, and
// returns the iterator behind them.
// Both forms take options in front. Blocks until all calls have ended. Throws the exception of the
// lowest index that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::for_each_n_calls> for_each_n{};

} // namespace sennit::par
