// SPDX-License-Identifier: Apache-2.0
// par::transform_inclusive_scan, par::transform_exclusive_scan: scans of transformed elements, in
// parallel and in a single pass.
//
//     sennit::par::transform_exclusive_scan(words, offsets, std::size_t{0}, std::plus<>(),
//                                           &std::string::size);
//
// The transformation is called up to twice for an element. Otherwise as `par::inclusive_scan` and
// `par::exclusive_scan`, whose values are the results of the transformation.
#pragma once

#include "sennit/par/scan.hpp"

namespace sennit::par {

namespace detail {

// The elements of a range behind a transformation, as a range.
template <class I, class F>
auto transformed_range(I first, std::size_t n, F& transform) {
    return std::ranges::subrange(first, advanced(first, n)) |
           std::views::transform([call = shared_callable{transform}](
                                     std::iter_reference_t<I> element) -> decltype(auto) {
               return std::invoke(call.call, std::forward<std::iter_reference_t<I>>(element));
           });
}
template <class I, class F>
using transformed_iterator = std::ranges::iterator_t<decltype(transformed_range(
    std::declval<I>(), std::size_t(), std::declval<F&>()))>;
template <class I, class F>
using transformed_value = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>;

template <bool Inclusive>
struct transform_scan {
    template <class I, class O, class T, class Op, class F>
    static constexpr bool accepts() {
        if constexpr (std::invocable<F&, std::iter_reference_t<I>>)
            return scans<transformed_iterator<I, F>, O, T, Op>;
        else
            return false;
    }
    template <class T, class I, class O, class Op, class F>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, std::optional<T> init, Op& op,
                                                F& transform) {
        auto values = transformed_range(first, n, transform);
        using iterator = std::ranges::iterator_t<decltype(values)>;
        const std::size_t count = std::min(n, room);
        scan<Inclusive, iterator, O, T>(options, std::ranges::begin(values), n, out, room,
                                        std::move(init), op);
        return {advanced(first, count), advanced(out, count)};
    }
};

struct transform_inclusive_scan_calls : transform_scan<true> {
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class Op, class F>
        requires(accepts<I, O, transformed_value<I, F>, Op, F>())
    auto operator()(const with& options, I first, S last, O out, OS out_last, Op op, F f) const {
        return run<transformed_value<I, F>>(options, first, distance_of(first, last), out,
                                            distance_of(out, out_last), {}, op, f);
    }
    template <divisible_range R, divisible_range OR, class Op, class F>
        requires(accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>,
                         transformed_value<std::ranges::iterator_t<R>, F>, Op, F>())
    auto operator()(const with& options, R&& range, OR&& out, Op op, F f) const {
        return borrowed_in_out<R, OR>(run<transformed_value<std::ranges::iterator_t<R>, F>>(
            options, std::ranges::begin(range), size_of(range), std::ranges::begin(out),
            size_of(out), {}, op, f));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class Op, class F, class T>
        requires(accepts<I, O, T, Op, F>())
    auto operator()(const with& options, I first, S last, O out, OS out_last, Op op, F f,
                    T init) const {
        return run<T>(options, first, distance_of(first, last), out, distance_of(out, out_last),
                      std::optional<T>(std::move(init)), op, f);
    }
    template <divisible_range R, divisible_range OR, class Op, class F, class T>
        requires(accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T, Op, F>())
    auto operator()(const with& options, R&& range, OR&& out, Op op, F f, T init) const {
        return borrowed_in_out<R, OR>(run<T>(options, std::ranges::begin(range), size_of(range),
                                             std::ranges::begin(out), size_of(out),
                                             std::optional<T>(std::move(init)), op, f));
    }

    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class Op, class F>
        requires(accepts<I, O, transformed_value<I, F>, Op, F>())
    auto operator()(I first, S last, O out, OS out_last, Op op, F f) const {
        return (*this)(automatic, first, last, out, out_last, std::move(op), std::move(f));
    }
    template <divisible_range R, divisible_range OR, class Op, class F>
        requires(accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>,
                         transformed_value<std::ranges::iterator_t<R>, F>, Op, F>())
    auto operator()(R&& range, OR&& out, Op op, F f) const {
        return (*this)(automatic, std::forward<R>(range), std::forward<OR>(out), std::move(op),
                       std::move(f));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class Op, class F, class T>
        requires(accepts<I, O, T, Op, F>())
    auto operator()(I first, S last, O out, OS out_last, Op op, F f, T init) const {
        return (*this)(automatic, first, last, out, out_last, std::move(op), std::move(f),
                       std::move(init));
    }
    template <divisible_range R, divisible_range OR, class Op, class F, class T>
        requires(accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T, Op, F>())
    auto operator()(R&& range, OR&& out, Op op, F f, T init) const {
        return (*this)(automatic, std::forward<R>(range), std::forward<OR>(out), std::move(op),
                       std::move(f), std::move(init));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::transform_inclusive_scan takes the options or nothing, the "
                      "elements, an output (a range, or two iterators of it), an operation of two "
                      "values, a function of one element, and init");
    }
};

struct transform_exclusive_scan_calls : transform_scan<false> {
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class T, class Op, class F>
        requires(accepts<I, O, T, Op, F>())
    auto operator()(const with& options, I first, S last, O out, OS out_last, T init, Op op,
                    F f) const {
        return run<T>(options, first, distance_of(first, last), out, distance_of(out, out_last),
                      std::optional<T>(std::move(init)), op, f);
    }
    template <divisible_range R, divisible_range OR, class T, class Op, class F>
        requires(accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T, Op, F>())
    auto operator()(const with& options, R&& range, OR&& out, T init, Op op, F f) const {
        return borrowed_in_out<R, OR>(run<T>(options, std::ranges::begin(range), size_of(range),
                                             std::ranges::begin(out), size_of(out),
                                             std::optional<T>(std::move(init)), op, f));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class T, class Op, class F>
        requires(accepts<I, O, T, Op, F>())
    auto operator()(I first, S last, O out, OS out_last, T init, Op op, F f) const {
        return (*this)(automatic, first, last, out, out_last, std::move(init), std::move(op),
                       std::move(f));
    }
    template <divisible_range R, divisible_range OR, class T, class Op, class F>
        requires(accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T, Op, F>())
    auto operator()(R&& range, OR&& out, T init, Op op, F f) const {
        return (*this)(automatic, std::forward<R>(range), std::forward<OR>(out), std::move(init),
                       std::move(op), std::move(f));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::transform_exclusive_scan takes the options or nothing, the "
                      "elements, an output (a range, or two iterators of it), init, an operation "
                      "of two values of init's type, and a function of one element");
    }
};

} // namespace detail

// transform_inclusive_scan(range, out, op, f), transform_inclusive_scan(range, out, op, f, init),
// and forms with (first, last, out, out_last, …); all with options in front. Scans f(element).
// Blocks, returns and throws like inclusive_scan.
inline constexpr detail::algorithm<detail::transform_inclusive_scan_calls>
    transform_inclusive_scan{};

// transform_exclusive_scan(range, out, init, op, f), transform_exclusive_scan(first, last, out,
// out_last, init, op, f), both with options in front. Scans f(element). Blocks, returns and throws
// like exclusive_scan.
inline constexpr detail::algorithm<detail::transform_exclusive_scan_calls>
    transform_exclusive_scan{};

} // namespace sennit::par
