// SPDX-License-Identifier: Apache-2.0
// par::inclusive_scan, par::exclusive_scan: write the reductions of all prefixes of a range, in
// parallel and in a single pass.
//
//     sennit::par::inclusive_scan(amounts, balances);
//     sennit::par::exclusive_scan(lengths, offsets, std::size_t{0});
//     sennit::par::inclusive_scan(values, maxima, std::ranges::max);
//
// Element i of the inclusive scan reduces the elements 0 to i, after `init` if there is one.
// Element i of the exclusive scan reduces `init` and the elements in front of i. The operation must
// be associative, and need not be commutative. Values have the type of `init`, or else of the
// elements. The output may be the input. A scan writes as many elements as both ranges have.
//
// Floating-point results may differ in their last bits from run to run, because values are grouped
// as the work was divided. On one worker the grouping is that of the serial scan.
//
// Guarantees, exceptions and cancellation as for `par::for_each`. Cost: one worker runs the serial
// scan. With p workers, the operation is called up to twice for an element, so that the time is at
// least 2 / (p + 1) of the serial one. Each element is read from memory once. No allocation.
#pragma once

#include "sennit/par/detail/fold.hpp"
#include "sennit/par/detail/prefix_pass.hpp"

namespace sennit::par {

namespace detail {

template <bool Inclusive, class I, class O, class T, class F>
struct scan_work {
    using prefix_type = T;
    struct scratch_type {};
    // A chunk is read twice, so that it should stay in the L2 cache.
    static constexpr std::size_t longest_chunk = 32'768;

    I in;
    O out;
    shared_callable<F> op;

    T contribute(std::size_t first, std::size_t last, scratch_type&) const {
        own_copy<F> call = op.call;
        I at = advanced(in, first);
        T sum(*at);
        for (++first, (void)++at; first != last; ++first, (void)++at)
            sum = static_cast<T>(std::invoke(call, std::move(sum), *at));
        return sum;
    }
    T combine(const T& prefix, T contribution) const {
        own_copy<F> call = op.call;
        return static_cast<T>(std::invoke(call, prefix, std::move(contribution)));
    }
    void finish(std::size_t first, std::size_t last, std::optional<T> prefix, scratch_type&) const {
        (void)direct(first, last, std::move(prefix));
    }
    T direct(std::size_t first, std::size_t last, std::optional<T> prefix) const {
        own_copy<F> call = op.call;
        I at = advanced(in, first);
        O to = advanced(out, first);
        if constexpr (Inclusive) {
            T sum = prefix ? static_cast<T>(std::invoke(call, std::move(*prefix), *at)) : T(*at);
            *to = std::as_const(sum);
            for (++first, (void)++at, (void)++to; first != last; ++first, (void)++at, (void)++to) {
                sum = static_cast<T>(std::invoke(call, std::move(sum), *at));
                *to = std::as_const(sum);
            }
            return sum;
        } else {
            T sum = std::move(*prefix);
            for (; first != last; ++first, (void)++at, (void)++to) {
                // The element is read before the output is written, which may be its place.
                T next = static_cast<T>(std::invoke(call, std::as_const(sum), *at));
                *to = std::move(sum);
                sum = std::move(next);
            }
            return sum;
        }
    }
};

template <class I, class O, class T, class F>
concept scans = std::copyable<T> && std::constructible_from<T, std::iter_reference_t<I>> &&
                reduction_of<T, F> && std::invocable<F&, T, std::iter_reference_t<I>> &&
                std::convertible_to<std::invoke_result_t<F&, T, std::iter_reference_t<I>>, T> &&
                writes<const T&, O>;

template <bool Inclusive, class I, class O, class T, class F>
std::ranges::in_out_result<I, O> scan(const with& options, I first, std::size_t n, O out,
                                      std::size_t room, std::optional<T> init, F& op) {
    const std::size_t count = std::min(n, room);
    run_prefix_pass(options, count, scan_work<Inclusive, I, O, T, F>{first, out, {op}},
                    std::move(init));
    return {advanced(first, count), advanced(out, count)};
}

struct inclusive_scan_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class F = std::plus<>>
        requires scans<I, O, std::iter_value_t<I>, F>
    auto operator()(const with& options, I first, S last, O out, OS out_last, F op = {}) const {
        return scan<true, I, O, std::iter_value_t<I>>(options, first, distance_of(first, last), out,
                                                      distance_of(out, out_last), {}, op);
    }
    template <divisible_range R, divisible_range OR, class F = std::plus<>>
        requires scans<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>,
                       std::ranges::range_value_t<R>, F>
    auto operator()(const with& options, R&& range, OR&& out, F op = {}) const {
        return borrowed_in_out<R, OR>(
            scan<true, std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>,
                 std::ranges::range_value_t<R>>(options, std::ranges::begin(range), size_of(range),
                                                std::ranges::begin(out), size_of(out), {}, op));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class F, class T>
        requires scans<I, O, T, F>
    auto operator()(const with& options, I first, S last, O out, OS out_last, F op, T init) const {
        return scan<true, I, O, T>(options, first, distance_of(first, last), out,
                                   distance_of(out, out_last), std::optional<T>(std::move(init)),
                                   op);
    }
    template <divisible_range R, divisible_range OR, class F, class T>
        requires scans<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T, F>
    auto operator()(const with& options, R&& range, OR&& out, F op, T init) const {
        return borrowed_in_out<R, OR>(
            scan<true, std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T>(
                options, std::ranges::begin(range), size_of(range), std::ranges::begin(out),
                size_of(out), std::optional<T>(std::move(init)), op));
    }

    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class F = std::plus<>>
        requires scans<I, O, std::iter_value_t<I>, F>
    auto operator()(I first, S last, O out, OS out_last, F op = {}) const {
        return (*this)(automatic, first, last, out, out_last, std::move(op));
    }
    template <divisible_range R, divisible_range OR, class F = std::plus<>>
        requires scans<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>,
                       std::ranges::range_value_t<R>, F>
    auto operator()(R&& range, OR&& out, F op = {}) const {
        return (*this)(automatic, std::forward<R>(range), std::forward<OR>(out), std::move(op));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class F, class T>
        requires scans<I, O, T, F>
    auto operator()(I first, S last, O out, OS out_last, F op, T init) const {
        return (*this)(automatic, first, last, out, out_last, std::move(op), std::move(init));
    }
    template <divisible_range R, divisible_range OR, class F, class T>
        requires scans<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T, F>
    auto operator()(R&& range, OR&& out, F op, T init) const {
        return (*this)(automatic, std::forward<R>(range), std::forward<OR>(out), std::move(op),
                       std::move(init));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::inclusive_scan takes the options or nothing, the elements, an "
                      "output (a range, or two iterators of it), an operation of two values, and "
                      "init; the results must convert to the type of init or of the elements");
    }
};

struct exclusive_scan_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class T, class F = std::plus<>>
        requires scans<I, O, T, F>
    auto operator()(const with& options, I first, S last, O out, OS out_last, T init,
                    F op = {}) const {
        return scan<false, I, O, T>(options, first, distance_of(first, last), out,
                                    distance_of(out, out_last), std::optional<T>(std::move(init)),
                                    op);
    }
    template <divisible_range R, divisible_range OR, class T, class F = std::plus<>>
        requires scans<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T, F>
    auto operator()(const with& options, R&& range, OR&& out, T init, F op = {}) const {
        return borrowed_in_out<R, OR>(
            scan<false, std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T>(
                options, std::ranges::begin(range), size_of(range), std::ranges::begin(out),
                size_of(out), std::optional<T>(std::move(init)), op));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class T, class F = std::plus<>>
        requires scans<I, O, T, F>
    auto operator()(I first, S last, O out, OS out_last, T init, F op = {}) const {
        return (*this)(automatic, first, last, out, out_last, std::move(init), std::move(op));
    }
    template <divisible_range R, divisible_range OR, class T, class F = std::plus<>>
        requires scans<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, T, F>
    auto operator()(R&& range, OR&& out, T init, F op = {}) const {
        return (*this)(automatic, std::forward<R>(range), std::forward<OR>(out), std::move(init),
                       std::move(op));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::exclusive_scan takes the options or nothing, the elements, an "
                      "output (a range, or two iterators of it), init, and an operation of two "
                      "values of init's type, whose result must convert to that type");
    }
};

} // namespace detail

// inclusive_scan(range, out, op = plus), inclusive_scan(range, out, op, init), and forms with
// (first, last, out, out_last, …); all with options in front. Blocks until the output is written.
// Returns {in, out} where it stopped. Throws the exception of the lowest chunk that throws, and
// `cancelled`.
inline constexpr detail::algorithm<detail::inclusive_scan_calls> inclusive_scan{};

// exclusive_scan(range, out, init, op = plus), exclusive_scan(first, last, out, out_last, init, …),
// both with options in front. Blocks, returns and throws like inclusive_scan.
inline constexpr detail::algorithm<detail::exclusive_scan_calls> exclusive_scan{};

} // namespace sennit::par
