// SPDX-License-Identifier: Apache-2.0
// par::transform: writes the result of a function of each element, or of each pair of elements of
// two ranges, to an output range, in parallel.
//
//     auto [in, out] = sennit::par::transform(orders, prices, price_of);
//     sennit::par::transform(x, y, sums, std::plus<>());
//     sennit::par::transform(orders, totals, std::negate<>(), &order::total);
//
// Use it for an output that has its size already. It writes as many elements as the shortest range
// has, and leaves the rest of the output untouched. The output may be the input. Otherwise the
// ranges must not overlap. An output of std::vector<bool> does not compile, because its elements
// share words.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`. After an exception, some
// elements of the output have been written.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

template <class I, class O, class F, class Proj>
concept transforms_one =
    visits<F, I, Proj> && writes<std::invoke_result_t<F&, projected_t<I, Proj>>, O>;
template <class I1, class I2, class O, class F, class Proj1, class Proj2>
concept transforms_two =
    projects<Proj1, I1> && projects<Proj2, I2> &&
    std::invocable<F&, projected_t<I1, Proj1>, projected_t<I2, Proj2>> &&
    writes<std::invoke_result_t<F&, projected_t<I1, Proj1>, projected_t<I2, Proj2>>, O>;

struct transform_algorithm {
    template <class I, class O, class F, class Proj>
    static constexpr bool accepts = transforms_one<I, O, F, Proj>;
    template <class I1, class I2, class O, class F, class Proj1, class Proj2>
    static constexpr bool accepts_two = transforms_two<I1, I2, O, F, Proj1, Proj2>;

    template <class I, class O, class F, class Proj>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, F& f, Proj& proj) {
        const std::size_t count = std::min(n, room);
        run_chunks(options, count,
                   [first, out, f = shared_callable{f},
                    proj = shared_callable{proj}](std::size_t from, std::size_t to) {
                       own_copy<F> call = f.call;
                       own_copy<Proj> part = proj.call;
                       I at = advanced(first, from);
                       O to_at = advanced(out, from);
                       for (std::size_t left = to - from; left != 0;
                            --left, (void)++at, (void)++to_at)
                           *to_at = std::invoke(call, std::invoke(part, *at));
                   });
        return {advanced(first, count), advanced(out, count)};
    }

    template <class I1, class I2, class O, class F, class Proj1, class Proj2>
    static std::ranges::in_in_out_result<I1, I2, O>
    run_two(const with& options, I1 first1, std::size_t n1, I2 first2, std::size_t n2, O out,
            std::size_t room, F& f, Proj1& proj1, Proj2& proj2) {
        const std::size_t count = std::min({n1, n2, room});
        run_chunks(options, count,
                   [first1, first2, out, f = shared_callable{f}, proj1 = shared_callable{proj1},
                    proj2 = shared_callable{proj2}](std::size_t from, std::size_t to) {
                       own_copy<F> call = f.call;
                       own_copy<Proj1> part1 = proj1.call;
                       own_copy<Proj2> part2 = proj2.call;
                       I1 at1 = advanced(first1, from);
                       I2 at2 = advanced(first2, from);
                       O to_at = advanced(out, from);
                       for (std::size_t left = to - from; left != 0;
                            --left, (void)++at1, (void)++at2, (void)++to_at)
                           *to_at = std::invoke(call, std::invoke(part1, *at1),
                                                std::invoke(part2, *at2));
                   });
        return {advanced(first1, count), advanced(first2, count), advanced(out, count)};
    }
};

struct transform_calls : output_calls<transform_algorithm, none_given>,
                         pair_output_calls<transform_algorithm, none_given> {
    using output_calls<transform_algorithm, none_given>::operator();
    using pair_output_calls<transform_algorithm, none_given>::operator();
    using output_calls<transform_algorithm, none_given>::refuse;
};

} // namespace detail

// transform(range, out, f, proj = {}), transform(first, last, out, out_last, f, proj = {}): writes
// f(proj(element)), returns {in, out} where it stopped.
// transform(range1, range2, out, f, proj1 = {}, proj2 = {}), transform(first1, last1, first2,
// last2, out, out_last, f, …): writes f(proj1(element1), proj2(element2)), returns {in1, in2, out}.
// All forms take options in front. Blocks until all calls have ended. Throws the exception of the
// first element that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::transform_calls> transform{};

} // namespace sennit::par
