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

#include "sennit/par/for_each.hpp"

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

} // namespace sennit::par
