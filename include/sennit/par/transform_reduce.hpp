// SPDX-License-Identifier: Apache-2.0
// par::transform_reduce: transforms each element of a random-access range, or each pair of elements
// of two ranges, and reduces the results to one value, in parallel.
//
//     auto square = [](double v) { return v * v; };
//     double norm = sennit::par::transform_reduce(x, 0.0, std::plus<>(), square);
//     double same = sennit::par::transform_reduce(sennit::par::deterministic, x, 0.0,
//                                                 std::plus<>(), square);
//     double dot = sennit::par::transform_reduce(x, y, 0.0);
//
// Use it for sums, norms and the like over long ranges. Without a transformation use `par::reduce`.
// For a few expensive calls use `fork_reduce`.
//
// Guarantees as for `par::for_each`. `reduce` must be associative. It need not be commutative:
// values meet in the order of their elements, `init` first. `T`, the type of `init`, must be
// move-constructible and assignable. Both callables must return a type that converts to `T`;
// `reduce` is called with two `T&&`.
// Fast form: values are grouped as the work was divided, and floating-point numbers by eights. The
// last bits of floating-point results may therefore differ from run to run, also on one worker.
// Deterministic form: values are grouped by a tree that depends only on the number of elements and
// the grain. The bits are therefore the same for any number of workers and in each run (of the same
// machine code). Without a grain its leaves are blocks of n/256 elements, at least 1 and at most
// 4096; they are not divided further. `max_grain` has no effect there.
// Exceptions, cancellation and cost as for `par::for_each`; a block of the deterministic form costs
// about 3 ns.
#pragma once

#include "sennit/par/detail/fold.hpp"

namespace sennit::par {

namespace detail {

template <class I, class T, class Reduce, class F>
T transform_reduce_one(const with& options, I first, std::size_t count, T init, Reduce& reduce,
                       F& transform) {
    return fold(options, std::move(init), count, one_source<I, F>{first, transform}, reduce);
}
template <class I1, class I2, class T, class Reduce, class F>
T transform_reduce_two(const with& options, I1 first1, I2 first2, std::size_t count, T init,
                       Reduce& reduce, F& transform) {
    return fold(options, std::move(init), count, two_sources<I1, I2, F>{first1, first2, transform},
                reduce);
}

template <class I, class T, class Reduce, class F>
concept reduces_one = std::movable<T> && reduction_of<T, Reduce> && transform_to<T, F, I>;
template <class I1, class I2, class T, class Reduce, class F>
concept reduces_two = std::movable<T> && reduction_of<T, Reduce> && transform_to<T, F, I1, I2>;

struct transform_reduce_calls {
    // One range.
    template <std::random_access_iterator I, sized_end_of<I> S, class T, class Reduce, class F>
        requires reduces_one<I, T, Reduce, F>
    T operator()(const with& options, I first, S last, T init, Reduce&& reduce,
                 F&& transform) const {
        return transform_reduce_one(options, first, distance_of(first, last), std::move(init),
                                    reduce, transform);
    }
    template <divisible_range R, class T, class Reduce, class F>
        requires reduces_one<std::ranges::iterator_t<R>, T, Reduce, F>
    T operator()(const with& options, R&& range, T init, Reduce&& reduce, F&& transform) const {
        return transform_reduce_one(options, std::ranges::begin(range), size_of(range),
                                    std::move(init), reduce, transform);
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class T, class Reduce, class F>
        requires reduces_one<I, T, Reduce, F>
    T operator()(I first, S last, T init, Reduce&& reduce, F&& transform) const {
        return (*this)(automatic, first, last, std::move(init), reduce, transform);
    }
    template <divisible_range R, class T, class Reduce, class F>
        requires reduces_one<std::ranges::iterator_t<R>, T, Reduce, F>
    T operator()(R&& range, T init, Reduce&& reduce, F&& transform) const {
        return (*this)(automatic, range, std::move(init), reduce, transform);
    }

    // Two ranges; the shorter one decides.
    template <std::random_access_iterator I1, sized_end_of<I1> S1, std::random_access_iterator I2,
              class T, class Reduce = std::plus<>, class F = std::multiplies<>>
        requires reduces_two<I1, I2, T, Reduce, F>
    T operator()(const with& options, I1 first1, S1 last1, I2 first2, T init, Reduce reduce = {},
                 F transform = {}) const {
        return transform_reduce_two(options, first1, first2, distance_of(first1, last1),
                                    std::move(init), reduce, transform);
    }
    template <divisible_range R1, divisible_range R2, class T, class Reduce = std::plus<>,
              class F = std::multiplies<>>
        requires reduces_two<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, T, Reduce, F>
    T operator()(const with& options, R1&& range1, R2&& range2, T init, Reduce reduce = {},
                 F transform = {}) const {
        return transform_reduce_two(options, std::ranges::begin(range1), std::ranges::begin(range2),
                                    std::min(size_of(range1), size_of(range2)), std::move(init),
                                    reduce, transform);
    }
    template <std::random_access_iterator I1, sized_end_of<I1> S1, std::random_access_iterator I2,
              class T, class Reduce = std::plus<>, class F = std::multiplies<>>
        requires reduces_two<I1, I2, T, Reduce, F>
    T operator()(I1 first1, S1 last1, I2 first2, T init, Reduce reduce = {},
                 F transform = {}) const {
        return transform_reduce_two(automatic, first1, first2, distance_of(first1, last1),
                                    std::move(init), reduce, transform);
    }
    template <divisible_range R1, divisible_range R2, class T, class Reduce = std::plus<>,
              class F = std::multiplies<>>
        requires reduces_two<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, T, Reduce, F>
    T operator()(R1&& range1, R2&& range2, T init, Reduce reduce = {}, F transform = {}) const {
        return (*this)(automatic, range1, range2, std::move(init), std::move(reduce),
                       std::move(transform));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::transform_reduce takes the elements, init, `reduce` of two "
                      "values of init's type, and `transform` of one element (or of one element of "
                      "each of two ranges); both results must convert to init's type, so give init "
                      "the type of the result");
    }
};

} // namespace detail

// transform_reduce(range, init, reduce, transform), transform_reduce(first, last, init, …): reduces
// transform(element).
// transform_reduce(range1, range2, init, reduce = plus, transform = multiplies),
// transform_reduce(first1, last1, first2, init, …): reduces transform(element1, element2) as far as
// both ranges reach.
// All forms take options in front. Blocks until all calls have ended. Throws the exception of the
// first element that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::transform_reduce_calls> transform_reduce{};

} // namespace sennit::par
