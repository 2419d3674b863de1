// SPDX-License-Identifier: Apache-2.0
// par::rotate_copy: copies a range, beginning with an element in its middle, in parallel.
//
//     sennit::par::rotate_copy(ring, ring.begin() + oldest, history);
//
// Input and output must not overlap. Guarantees, exceptions, cancellation and cost as for
// `par::copy`.
#pragma once

#include "sennit/par/copy.hpp"

namespace sennit::par {

namespace detail {

struct rotate_copy_calls {
    template <class I, class O>
    static std::ranges::in_in_out_result<I, I, O>
    run(const with& options, I first, std::size_t middle, std::size_t n, O out, std::size_t room) {
        const std::size_t count = std::min(n, room);
        const std::size_t high = std::min(count, n - middle); // elements behind the middle
        run_chunks(options, count, [first, middle, high, out](std::size_t from, std::size_t to) {
            const std::size_t split = std::clamp(high, from, to);
            std::ranges::copy(advanced(first, middle + from), advanced(first, middle + split),
                              advanced(out, from));
            if (split != to)
                std::ranges::copy(advanced(first, split - high), advanced(first, to - high),
                                  advanced(out, split));
        });
        return {advanced(first, middle + high), advanced(first, count - high),
                advanced(out, count)};
    }

    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS>
        requires(copy_algorithm::accepts<I, O>)
    auto operator()(const with& options, I first, I middle, S last, O out, OS out_last) const {
        return run(options, first, distance_of(first, middle), distance_of(first, last), out,
                   distance_of(out, out_last));
    }
    template <divisible_range R, divisible_range OR>
        requires(copy_algorithm::accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>>)
    auto operator()(const with& options, R&& range, std::ranges::iterator_t<R> middle,
                    OR&& out) const {
        const auto first = std::ranges::begin(range);
        return reverse_copy_algorithm::template borrowed<R, OR>(
            run(options, first, distance_of(first, middle), size_of(range), std::ranges::begin(out),
                size_of(out)));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS>
        requires(copy_algorithm::accepts<I, O>)
    auto operator()(I first, I middle, S last, O out, OS out_last) const {
        return (*this)(automatic, first, middle, last, out, out_last);
    }
    template <divisible_range R, divisible_range OR>
        requires(copy_algorithm::accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>>)
    auto operator()(R&& range, std::ranges::iterator_t<R> middle, OR&& out) const {
        return (*this)(automatic, std::forward<R>(range), middle, std::forward<OR>(out));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::rotate_copy takes the options or nothing, a range and an "
                      "iterator into it (or three iterators), and an output (a range, or two "
                      "iterators of it) that the elements can be assigned to");
    }
};

} // namespace detail

// rotate_copy(range, middle, out), rotate_copy(first, middle, last, out, out_last), both with
// options in front. Copies the elements from middle on, and then those in front of it, as far as
// the output reaches. Blocks until all are copied. Returns {in1, in2, out} where it stopped behind
// the middle, in front of it, and in the output. Throws the exception of the first element that
// throws, and `cancelled`.
inline constexpr detail::algorithm<detail::rotate_copy_calls> rotate_copy{};

} // namespace sennit::par
