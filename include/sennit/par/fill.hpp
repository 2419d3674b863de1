// SPDX-License-Identifier: Apache-2.0
// par::fill, par::fill_n, par::generate, par::generate_n, par::iota: write values to all elements
// of a range, in parallel.
//
//     sennit::par::fill(pixels, black);
//     sennit::par::generate(tokens, [] { return fresh_token(); });
//     sennit::par::iota(indices, 0u);
//
// Use them for long ranges; they also touch fresh memory in parallel. The generator is called by
// several workers at the same time, once for each element, in no particular order: give it no
// state, or a thread-safe one.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

struct fill_algorithm {
    template <class I, class T, class Proj>
    static constexpr bool accepts = std::same_as<Proj, std::identity> && writes<const T&, I>;
    template <class I, class T>
    static I run(const with& options, I first, std::size_t n, T& value, std::identity&) {
        run_chunks(
            options, n,
            [first, value = shared_callable<const T>{value}](std::size_t from, std::size_t to) {
                own_copy<const T> own = value.call;
                std::ranges::fill(advanced(first, from), advanced(first, to), own);
            });
        return advanced(first, n);
    }
};

template <class I, class F>
concept generates = std::invocable<F&> && writes<std::invoke_result_t<F&>, I>;

struct generate_algorithm {
    template <class I, class F, class Proj>
    static constexpr bool accepts = std::same_as<Proj, std::identity> && generates<I, F>;
    template <class I, class F>
    static I run(const with& options, I first, std::size_t n, F& f, std::identity&) {
        run_chunks(options, n, [first, f = shared_callable{f}](std::size_t from, std::size_t to) {
            own_copy<F> call = f.call;
            I at = advanced(first, from);
            for (; from != to; ++from, (void)++at) *at = std::invoke(call);
        });
        return advanced(first, n);
    }
};

} // namespace detail

// The end of the range that par::iota has written, and the value behind its last one.
template <class O, class T>
struct iota_result {
    O out;
    T value;

    template <class R>
    constexpr iota_result<std::ranges::borrowed_iterator_t<R>, T> borrowed() const {
        return {detail::borrowed_iterator<R>(out), value};
    }
};

namespace detail {

template <class I, class T>
concept counts_up = std::weakly_incrementable<T> && writes<const T&, I> &&
                    requires(const T& value, std::iter_difference_t<T> by) {
                        { value + by } -> std::convertible_to<T>;
                    };

struct iota_algorithm {
    template <class I, class T, class Proj>
    static constexpr bool accepts =
        std::same_as<Proj, std::identity> && counts_up<I, std::remove_const_t<T>>;
    template <class I, class T>
    static auto run(const with& options, I first, std::size_t n, T& value, std::identity&) {
        using value_type = std::remove_const_t<T>;
        using result = iota_result<I, value_type>;
        const auto after = [](const T& from, std::size_t by) {
            if constexpr (std::integral<value_type>)
                return static_cast<value_type>(from + static_cast<value_type>(by));
            else
                return static_cast<value_type>(from +
                                               static_cast<std::iter_difference_t<value_type>>(by));
        };
        run_chunks(options, n,
                   [first, after, value = shared_callable<const T>{value}](std::size_t from,
                                                                           std::size_t to) {
                       auto next = after(value.call, from);
                       I at = advanced(first, from);
                       for (; from != to; ++from, (void)++at, (void)++next)
                           *at = std::as_const(next);
                   });
        return result{advanced(first, n), after(value, n)};
    }
};

} // namespace detail

// fill(range, value), fill(first, last, value), both with options in front. Assigns a copy of value
// to each element. Blocks until all are written. Returns the end. Throws the exception of the first
// element that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::element_calls<detail::fill_algorithm>> fill{};

// fill_n(first, n, value), also with options in front. Writes n elements, none if n <= 0. Blocks,
// returns and throws like fill.
inline constexpr detail::algorithm<detail::count_calls<detail::fill_algorithm>> fill_n{};

// generate(range, f), generate(first, last, f), both with options in front. Assigns f() to each
// element. Blocks, returns and throws like fill.
inline constexpr detail::algorithm<detail::element_calls<detail::generate_algorithm>> generate{};

// generate_n(first, n, f), also with options in front. Writes n elements, none if n <= 0. Blocks,
// returns and throws like fill.
inline constexpr detail::algorithm<detail::count_calls<detail::generate_algorithm>> generate_n{};

// iota(range, value), iota(first, last, value), both with options in front. Assigns value,
// value + 1, … to the elements. Blocks and throws like fill. Returns {out, value}: the end, and the
// value that would follow. `value + n` must exist and be cheap.
inline constexpr detail::algorithm<detail::element_calls<detail::iota_algorithm>> iota{};

} // namespace sennit::par
