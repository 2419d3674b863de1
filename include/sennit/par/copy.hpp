// SPDX-License-Identifier: Apache-2.0
// par::copy, par::copy_n, par::move, par::reverse_copy: copy or move elements to an output range,
// in parallel.
//
//     sennit::par::copy(matrix, backup);
//     sennit::par::move(names, stored_names);
//     sennit::par::reverse_copy(history, newest_first);
//
// Use them for long ranges, or for elements whose copy is expensive. They write as many elements as
// both ranges have, and leave the rest of the output untouched. Input and output must not overlap.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`. After an exception, some
// elements of the output have been written.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

template <class I, class O>
std::ranges::in_out_result<I, O> copy_chunks(const with& options, I first, std::size_t count,
                                             O out) {
    run_chunks(options, count, [first, out](std::size_t from, std::size_t to) {
        std::ranges::copy(advanced(first, from), advanced(first, to), advanced(out, from));
    });
    return {advanced(first, count), advanced(out, count)};
}

struct copy_algorithm {
    template <class I, class O>
    static constexpr bool accepts = writes<std::iter_reference_t<I>, O>;
    template <class I, class O>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room) {
        return copy_chunks(options, first, std::min(n, room), out);
    }
    template <class R, class OR, class Result>
    static auto borrowed(Result result) {
        return borrowed_in_out<R, OR>(result);
    }
};

struct move_algorithm : copy_algorithm {
    template <class I, class O>
    static constexpr bool accepts = writes<std::iter_rvalue_reference_t<I>, O>;
    template <class I, class O>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room) {
        const std::size_t count = std::min(n, room);
        run_chunks(options, count, [first, out](std::size_t from, std::size_t to) {
            std::ranges::move(advanced(first, from), advanced(first, to), advanced(out, from));
        });
        return {advanced(first, count), advanced(out, count)};
    }
};

struct reverse_copy_algorithm : copy_algorithm {
    template <class I, class O>
    static std::ranges::in_in_out_result<I, I, O> run(const with& options, I first, std::size_t n,
                                                      O out, std::size_t room) {
        const std::size_t count = std::min(n, room);
        const I last = advanced(first, n);
        run_chunks(options, count, [last, out](std::size_t from, std::size_t to) {
            I at = last - static_cast<std::iter_difference_t<I>>(from);
            O to_at = advanced(out, from);
            for (; from != to; ++from, (void)++to_at) *to_at = *--at;
        });
        return {last, last - static_cast<std::iter_difference_t<I>>(count), advanced(out, count)};
    }
    template <class R, class OR, class Result>
    static auto borrowed(Result result) {
        using in = std::ranges::borrowed_iterator_t<R>;
        return std::ranges::in_in_out_result<in, in, std::ranges::borrowed_iterator_t<OR>>{
            borrowed_iterator<R>(result.in1), borrowed_iterator<R>(result.in2),
            borrowed_iterator<OR>(result.out)};
    }
};

struct copy_n_calls {
    template <std::random_access_iterator I, std::random_access_iterator O>
        requires(copy_algorithm::accepts<I, O>)
    std::ranges::in_out_result<I, O> operator()(const with& options, I first,
                                                std::iter_difference_t<I> n, O out) const {
        return copy_chunks(options, first, n > 0 ? static_cast<std::size_t>(n) : 0, out);
    }
    template <std::random_access_iterator I, std::random_access_iterator O>
        requires(copy_algorithm::accepts<I, O>)
    std::ranges::in_out_result<I, O> operator()(I first, std::iter_difference_t<I> n, O out) const {
        return (*this)(automatic, first, n, out);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::copy_n takes the options or nothing, an iterator, a number, "
                      "and an output iterator that the elements can be assigned to");
    }
};

} // namespace detail

// copy(range, out), copy(first, last, out, out_last), both with options in front. Copies the
// elements in order, as far as the output reaches. Blocks until all are copied. Returns {in, out}
// where it stopped. Throws the exception of the first element that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::copy_calls<detail::copy_algorithm>> copy{};

// copy_n(first, n, out), also with options in front. Copies n elements, none if n <= 0. Blocks,
// returns and throws like copy. The output must have room for n elements.
inline constexpr detail::algorithm<detail::copy_n_calls> copy_n{};

// Like copy, but moves the elements. Forms, result and exceptions are those of copy.
inline constexpr detail::algorithm<detail::copy_calls<detail::move_algorithm>> move{};

// reverse_copy(range, out), reverse_copy(first, last, out, out_last), both with options in front.
// Copies the elements in reverse order; if the output is shorter, the last elements of the range.
// Returns {last, last - count, out + count} for the number of copied elements. Blocks and throws
// like copy.
inline constexpr detail::algorithm<detail::copy_calls<detail::reverse_copy_algorithm>>
    reverse_copy{};

} // namespace sennit::par
