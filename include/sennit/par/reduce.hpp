// SPDX-License-Identifier: Apache-2.0
// par::reduce: reduces the elements of a random-access range to one value, in parallel.
//
//     long sum = sennit::par::reduce(numbers, 0L);
//     std::string text = sennit::par::reduce(words, std::string());   // in the order of the words
//     double price = sennit::par::reduce(orders, 0.0, std::plus<>(), &order::price);
//
// Guarantees, forms, exceptions and cost as for `par::transform_reduce`: the operation must be
// associative, and need not be commutative. An element is converted to the type of `init` before it
// is reduced. A copy is made of each element; use a projection for elements that cannot be copied.
#pragma once

#include "sennit/par/transform_reduce.hpp"

namespace sennit::par {

namespace detail {

struct reduce_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, class T, class F = std::plus<>,
              class Proj = std::identity>
        requires reduces_one<I, T, F, Proj>
    T operator()(const with& options, I first, S last, T init, F reduce = {},
                 Proj proj = {}) const {
        return transform_reduce_one(options, first, distance_of(first, last), std::move(init),
                                    reduce, proj);
    }
    template <divisible_range R, class T, class F = std::plus<>, class Proj = std::identity>
        requires reduces_one<std::ranges::iterator_t<R>, T, F, Proj>
    T operator()(const with& options, R&& range, T init, F reduce = {}, Proj proj = {}) const {
        return transform_reduce_one(options, std::ranges::begin(range), size_of(range),
                                    std::move(init), reduce, proj);
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class T, class F = std::plus<>,
              class Proj = std::identity>
        requires reduces_one<I, T, F, Proj>
    T operator()(I first, S last, T init, F reduce = {}, Proj proj = {}) const {
        return transform_reduce_one(automatic, first, distance_of(first, last), std::move(init),
                                    reduce, proj);
    }
    template <divisible_range R, class T, class F = std::plus<>, class Proj = std::identity>
        requires reduces_one<std::ranges::iterator_t<R>, T, F, Proj>
    T operator()(R&& range, T init, F reduce = {}, Proj proj = {}) const {
        return transform_reduce_one(automatic, std::ranges::begin(range), size_of(range),
                                    std::move(init), reduce, proj);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::reduce takes the elements, init, an operation of two values of "
                      "init's type, and a projection; elements and result must convert to init's "
                      "type, so give init the type of the result");
    }
};

} // namespace detail

// reduce(range, init, reduce = plus, proj = {}), reduce(first, last, init, …), both with options in
// front. Blocks until all calls have ended. Returns init reduced with all elements, in their order.
// Throws the exception of the first element that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::reduce_calls> reduce{};

} // namespace sennit::par
