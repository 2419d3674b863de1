// SPDX-License-Identifier: Apache-2.0
// par::adjacent_difference: writes the first element, and then the difference of each element and
// the one before it, in parallel.
//
//     sennit::par::adjacent_difference(positions, steps);
//     sennit::par::adjacent_difference(samples, jumps, distance);   // distance(element, previous)
//
// The output must not overlap the input. The operation is called once for each pair. The
// algorithm writes as many elements as both ranges have.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

template <class I, class O, class F>
concept writes_differences =
    std::invocable<F&, std::iter_reference_t<I>, std::iter_reference_t<I>> &&
    writes<std::iter_reference_t<I>, O> &&
    writes<std::invoke_result_t<F&, std::iter_reference_t<I>, std::iter_reference_t<I>>, O>;

struct adjacent_difference_algorithm {
    template <class I, class O, class F, class Proj>
    static constexpr bool accepts =
        std::same_as<Proj, std::identity> && writes_differences<I, O, F>;

    template <class I, class O, class F>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, F& f, std::identity&) {
        const std::size_t count = std::min(n, room);
        run_chunks(options, count,
                   [first, out, f = shared_callable{f}](std::size_t from, std::size_t to) {
                       own_copy<F> call = f.call;
                       I at = advanced(first, from);
                       O to_at = advanced(out, from);
                       if (from == 0) {
                           *to_at = *at;
                           ++from, (void)++at, (void)++to_at;
                       }
                       for (; from != to; ++from, (void)++at, (void)++to_at)
                           *to_at = std::invoke(call, *at, *(at - 1));
                   });
        return {advanced(first, count), advanced(out, count)};
    }
};

} // namespace detail

// adjacent_difference(range, out, op = minus), adjacent_difference(first, last, out, out_last, …),
// both with options in front. Writes the first element, then op(element, previous element). Blocks
// until all are written. Returns {in, out} where it stopped. Throws the exception of the first
// element that throws, and `cancelled`.
inline constexpr detail::algorithm<
    detail::output_calls<detail::adjacent_difference_algorithm, std::minus<>>>
    adjacent_difference{};

} // namespace sennit::par
