// SPDX-License-Identifier: Apache-2.0
// The call forms that the parallel algorithms share: with or without options, with a range or with
// two iterators.
//
// A family of algorithms that take equal arguments shares one class of call forms, for example
// `element_calls`. Its parameter is the algorithm: a class with `accepts<…>`, which says whether
// the algorithm takes arguments of these types, and a function `run`, which receives the options,
// iterators and counts. `algorithm` adds the explanation of a refused call.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/par/detail/lazy_loop.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace sennit::par::detail {

// The ranges and iterators that a loop can divide.
template <class R>
concept divisible_range = std::ranges::random_access_range<R> && std::ranges::sized_range<R>;
template <class S, class I>
concept sized_end_of = std::sized_sentinel_for<S, I>;
// The end of an output: also std::unreachable_sentinel, for an output that the caller knows to be
// long enough.
template <class S, class I>
concept output_end_of =
    std::sized_sentinel_for<S, I> || std::same_as<S, std::unreachable_sentinel_t>;

template <class Iterator>
constexpr Iterator advanced(const Iterator& from, std::size_t by) {
    return from + static_cast<std::iter_difference_t<Iterator>>(by);
}

template <class I, class S>
constexpr std::size_t distance_of(const I& first, const S& last) {
    if constexpr (std::same_as<S, std::unreachable_sentinel_t>) {
        return static_cast<std::size_t>(-1);
    } else {
        const auto count = last - first;
        return count > 0 ? static_cast<std::size_t>(count) : 0;
    }
}
template <class R>
constexpr std::size_t size_of(R& range) {
    return static_cast<std::size_t>(std::ranges::size(range));
}

// The result of an algorithm for a range: std::ranges::dangling replaces an iterator into a
// temporary.
template <class R, class Result>
constexpr auto borrowed(Result result) {
    using iterator = std::ranges::iterator_t<R>;
    if constexpr (std::ranges::borrowed_range<R>)
        return result;
    else if constexpr (requires { result.template borrowed<R>(); })
        return result.template borrowed<R>();
    else if constexpr (std::same_as<Result, iterator> ||
                       std::same_as<Result, std::ranges::subrange<iterator>>)
        return std::ranges::dangling{};
    else if constexpr (std::same_as<Result, std::ranges::min_max_result<iterator>>)
        return std::ranges::min_max_result<std::ranges::dangling>{};
    else
        return result;
}
template <class R>
constexpr std::ranges::borrowed_iterator_t<R> borrowed_iterator(std::ranges::iterator_t<R> result) {
    if constexpr (std::ranges::borrowed_range<R>)
        return result;
    else
        return {};
}

// A callable as the chunks of a loop see it: a copy of a small trivial callable, otherwise a
// reference.
template <class F>
struct shared_callable {
    own_copy<F> call;
};
template <class F>
shared_callable(F&) -> shared_callable<F>;

// The element of an iterator behind its projection.
template <class I, class Proj>
using projected_t = std::invoke_result_t<Proj&, std::iter_reference_t<I>>;
template <class Proj, class I>
concept projects = std::invocable<Proj&, std::iter_reference_t<I>>;

template <class F, class I, class Proj = std::identity>
concept visits = projects<Proj, I> && std::invocable<F&, projected_t<I, Proj>>;
template <class F, class I, class Proj = std::identity>
concept tests = projects<Proj, I> && std::predicate<F&, projected_t<I, Proj>>;
template <class F, class I1, class I2, class Proj1 = std::identity, class Proj2 = std::identity>
concept compares = projects<Proj1, I1> && projects<Proj2, I2> &&
                   std::predicate<F&, projected_t<I1, Proj1>, projected_t<I2, Proj2>>;

// True if elements can be compared with a value.
template <class T, class I, class Proj>
concept equals_elements =
    projects<Proj, I> && requires(projected_t<I, Proj>&& element, const T& value) {
        { std::forward<projected_t<I, Proj>>(element) == value } -> std::convertible_to<bool>;
    };
// The test of one element for equality.
template <class T>
auto equality_with(const T& value) {
    return [own = shared_callable<const T>{value}](auto&& element) -> bool {
        return element == own.call;
    };
}

template <class Reference>
inline constexpr bool is_packed_bit = std::same_as<Reference, std::vector<bool>::reference>;
// True if the elements share words, so that two workers must not write neighbours.
template <class I>
inline constexpr bool shares_words = is_packed_bit<std::iter_reference_t<I>>;
template <class T, class O>
concept writes = std::indirectly_writable<O, T> && !shares_words<O>;

// True for elements that are cheaper to exchange than to predict.
template <class I>
inline constexpr bool cheap_to_exchange =
    std::contiguous_iterator<I> && std::is_trivially_copyable_v<std::iter_value_t<I>> &&
    std::is_copy_constructible_v<std::iter_value_t<I>> && sizeof(std::iter_value_t<I>) <= 16;
// True if traversing a range and reading its elements cannot throw.
template <class Iterator>
inline constexpr bool never_throws_going =
    noexcept(*std::declval<Iterator&>()) && noexcept(++std::declval<Iterator&>()) &&
    noexcept(std::declval<const Iterator&>() + std::iter_difference_t<Iterator>()) &&
    std::is_nothrow_copy_constructible_v<Iterator>;
template <class Proj, class I>
inline constexpr bool never_throws_projecting =
    never_throws_going<I> && std::is_nothrow_invocable_v<Proj&, std::iter_reference_t<I>>;
template <class F, class I, class Proj>
inline constexpr bool never_throws_calling =
    never_throws_projecting<Proj, I> && std::is_nothrow_invocable_v<F&, projected_t<I, Proj>>;

// Explains a refused call. `Takes` describes the arguments.
struct refusal {
    template <class T>
    static constexpr bool is_options = std::convertible_to<T, with>;
    // An argument that looks like a range or an iterator, but cannot be divided.
    template <class T>
    static constexpr bool is_linked =
        (std::ranges::input_range<T> && !divisible_range<T>) ||
        (std::input_iterator<std::decay_t<T>> && !std::random_access_iterator<std::decay_t<T>>);
    template <class T>
    static consteval bool is_packed() {
        if constexpr (std::ranges::random_access_range<T>)
            return is_packed_bit<std::ranges::range_reference_t<T>>;
        else if constexpr (std::random_access_iterator<std::decay_t<T>>)
            return is_packed_bit<std::iter_reference_t<std::decay_t<T>>>;
        else
            return false;
    }

    // Returns false if another message explains the call better.
    template <class... Args>
    static consteval bool explain() {
        constexpr bool linked = (is_linked<Args> || ...);
        constexpr bool packed = (is_packed<Args>() || ...);
        static_assert(!linked || base::refused<Args...>,
                      "sennit: a parallel algorithm needs random access to the elements and their "
                      "number; copy the list into a std::vector, or spawn a child for each element "
                      "in a sennit::scope");
        static_assert(linked || !packed || base::refused<Args...>,
                      "sennit: a parallel algorithm cannot write to a std::vector<bool>, because "
                      "its elements share words; use a std::vector<char>, or pass std::as_const of "
                      "a vector that is only read");
        return !linked && !packed;
    }
};

// An algorithm: the call forms, and behind them the explanation of all other calls.
template <class Calls>
struct algorithm : Calls {
    using Calls::operator();

    template <class... Args>
        requires(!std::invocable<const Calls&, Args...>)
    base::refused_call operator()(Args&&...) const {
        if constexpr (refusal::explain<Args...>()) Calls::template refuse<Args...>();
        return {};
    }
};

// algorithm(range, function, projection), also with two iterators.
template <class Algorithm>
struct element_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, class F, class Proj = std::identity>
        requires(Algorithm::template accepts<I, std::remove_reference_t<F>, Proj>)
    auto operator()(const with& options, I first, S last, F&& f, Proj proj = {}) const {
        return Algorithm::run(options, first, distance_of(first, last), f, proj);
    }
    template <divisible_range R, class F, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>, std::remove_reference_t<F>,
                                             Proj>)
    auto operator()(const with& options, R&& range, F&& f, Proj proj = {}) const {
        return borrowed<R>(
            Algorithm::run(options, std::ranges::begin(range), size_of(range), f, proj));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class F, class Proj = std::identity>
        requires(Algorithm::template accepts<I, std::remove_reference_t<F>, Proj>)
    auto operator()(I first, S last, F&& f, Proj proj = {}) const {
        return Algorithm::run(automatic, first, distance_of(first, last), f, proj);
    }
    template <divisible_range R, class F, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>, std::remove_reference_t<F>,
                                             Proj>)
    auto operator()(R&& range, F&& f, Proj proj = {}) const {
        return borrowed<R>(
            Algorithm::run(automatic, std::ranges::begin(range), size_of(range), f, proj));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, a range or "
                      "two iterators of it, and a function (or a value) that fits one element; "
                      "give the function one parameter of the element's type");
    }
};

// algorithm(range, comparison = Default, projection), also with two iterators.
template <class Algorithm, class Default>
struct order_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, class F = Default,
              class Proj = std::identity>
        requires(Algorithm::template accepts<I, F, Proj>)
    auto operator()(const with& options, I first, S last, F compare = {}, Proj proj = {}) const {
        return Algorithm::run(options, first, distance_of(first, last), compare, proj);
    }
    template <divisible_range R, class F = Default, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>, F, Proj>)
    auto operator()(const with& options, R&& range, F compare = {}, Proj proj = {}) const {
        return borrowed<R>(
            Algorithm::run(options, std::ranges::begin(range), size_of(range), compare, proj));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class F = Default,
              class Proj = std::identity>
        requires(Algorithm::template accepts<I, F, Proj>)
    auto operator()(I first, S last, F compare = {}, Proj proj = {}) const {
        return Algorithm::run(automatic, first, distance_of(first, last), compare, proj);
    }
    template <divisible_range R, class F = Default, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>, F, Proj>)
    auto operator()(R&& range, F compare = {}, Proj proj = {}) const {
        return borrowed<R>(
            Algorithm::run(automatic, std::ranges::begin(range), size_of(range), compare, proj));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, a range or "
                      "two iterators of it, a comparison of two elements, and a projection; give "
                      "the comparison two parameters of the element's type");
    }
};

// The default of a function that has none.
struct none_given {
    none_given() = delete;
};

// algorithm(range), also with two iterators.
template <class Algorithm>
struct range_calls {
    template <std::random_access_iterator I, sized_end_of<I> S>
        requires(Algorithm::template accepts<I>)
    auto operator()(const with& options, I first, S last) const {
        return Algorithm::run(options, first, distance_of(first, last));
    }
    template <divisible_range R>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>>)
    auto operator()(const with& options, R&& range) const {
        return borrowed<R>(Algorithm::run(options, std::ranges::begin(range), size_of(range)));
    }
    template <std::random_access_iterator I, sized_end_of<I> S>
        requires(Algorithm::template accepts<I>)
    auto operator()(I first, S last) const {
        return (*this)(automatic, first, last);
    }
    template <divisible_range R>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>>)
    auto operator()(R&& range) const {
        return borrowed<R>(Algorithm::run(automatic, std::ranges::begin(range), size_of(range)));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, and a range "
                      "or two iterators of it, whose elements can be swapped");
    }
};

// algorithm(first, n, value or function).
template <class Algorithm>
struct count_calls {
    template <std::random_access_iterator I, class F>
        requires(Algorithm::template accepts<I, std::remove_reference_t<F>, std::identity>)
    I operator()(const with& options, I first, std::iter_difference_t<I> n, F&& f) const {
        std::identity same;
        const std::size_t count = n > 0 ? static_cast<std::size_t>(n) : 0;
        Algorithm::run(options, first, count, f, same);
        return advanced(first, count);
    }
    template <std::random_access_iterator I, class F>
        requires(Algorithm::template accepts<I, std::remove_reference_t<F>, std::identity>)
    I operator()(I first, std::iter_difference_t<I> n, F&& f) const {
        return (*this)(automatic, first, n, f);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, an iterator, "
                      "a number, and a value (or a function that returns one) that the elements "
                      "can be assigned from");
    }
};

// algorithm(range, out), also with two iterators of each.
template <class Algorithm>
struct copy_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS>
        requires(Algorithm::template accepts<I, O>)
    auto operator()(const with& options, I first, S last, O out, OS out_last) const {
        return Algorithm::run(options, first, distance_of(first, last), out,
                              distance_of(out, out_last));
    }
    template <divisible_range R, divisible_range OR>
        requires(
            Algorithm::template accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>>)
    auto operator()(const with& options, R&& range, OR&& out) const {
        return Algorithm::template borrowed<R, OR>(
            Algorithm::run(options, std::ranges::begin(range), size_of(range),
                           std::ranges::begin(out), size_of(out)));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS>
        requires(Algorithm::template accepts<I, O>)
    auto operator()(I first, S last, O out, OS out_last) const {
        return (*this)(automatic, first, last, out, out_last);
    }
    template <divisible_range R, divisible_range OR>
        requires(
            Algorithm::template accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>>)
    auto operator()(R&& range, OR&& out) const {
        return Algorithm::template borrowed<R, OR>(
            Algorithm::run(automatic, std::ranges::begin(range), size_of(range),
                           std::ranges::begin(out), size_of(out)));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, a range or "
                      "two iterators of it, and an output range or two iterators of it that the "
                      "elements can be assigned to");
    }
};

template <class R, class OR, class I, class O>
constexpr auto borrowed_in_out(std::ranges::in_out_result<I, O> result) {
    return std::ranges::in_out_result<std::ranges::borrowed_iterator_t<R>,
                                      std::ranges::borrowed_iterator_t<OR>>{
        borrowed_iterator<R>(result.in), borrowed_iterator<OR>(result.out)};
}

// algorithm(range, out, function = Default, projection), also with two iterators of each.
template <class Algorithm, class Default>
struct output_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class F = Default, class Proj = std::identity>
        requires(Algorithm::template accepts<I, O, F, Proj>)
    auto operator()(const with& options, I first, S last, O out, OS out_last, F f = {},
                    Proj proj = {}) const {
        return Algorithm::run(options, first, distance_of(first, last), out,
                              distance_of(out, out_last), f, proj);
    }
    template <divisible_range R, divisible_range OR, class F = Default, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>,
                                             std::ranges::iterator_t<OR>, F, Proj>)
    auto operator()(const with& options, R&& range, OR&& out, F f = {}, Proj proj = {}) const {
        return borrowed_in_out<R, OR>(Algorithm::run(options, std::ranges::begin(range),
                                                     size_of(range), std::ranges::begin(out),
                                                     size_of(out), f, proj));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              output_end_of<O> OS, class F = Default, class Proj = std::identity>
        requires(Algorithm::template accepts<I, O, F, Proj>)
    auto operator()(I first, S last, O out, OS out_last, F f = {}, Proj proj = {}) const {
        return Algorithm::run(automatic, first, distance_of(first, last), out,
                              distance_of(out, out_last), f, proj);
    }
    template <divisible_range R, divisible_range OR, class F = Default, class Proj = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R>,
                                             std::ranges::iterator_t<OR>, F, Proj>)
    auto operator()(R&& range, OR&& out, F f = {}, Proj proj = {}) const {
        return borrowed_in_out<R, OR>(Algorithm::run(automatic, std::ranges::begin(range),
                                                     size_of(range), std::ranges::begin(out),
                                                     size_of(out), f, proj));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, the elements, "
                      "an output (a range, or two iterators of it), and a function whose result "
                      "can be assigned to the output's elements");
    }
};

// algorithm(range1, range2, function = Default, projection1, projection2), also with two iterators
// of each.
template <class Algorithm, class Default>
struct pair_calls {
    template <std::random_access_iterator I1, sized_end_of<I1> S1, std::random_access_iterator I2,
              sized_end_of<I2> S2, class F = Default, class Proj1 = std::identity,
              class Proj2 = std::identity>
        requires(Algorithm::template accepts<I1, I2, F, Proj1, Proj2>)
    auto operator()(const with& options, I1 first1, S1 last1, I2 first2, S2 last2, F f = {},
                    Proj1 proj1 = {}, Proj2 proj2 = {}) const {
        return Algorithm::run(options, first1, distance_of(first1, last1), first2,
                              distance_of(first2, last2), f, proj1, proj2);
    }
    template <divisible_range R1, divisible_range R2, class F = Default,
              class Proj1 = std::identity, class Proj2 = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R1>,
                                             std::ranges::iterator_t<R2>, F, Proj1, Proj2>)
    auto operator()(const with& options, R1&& range1, R2&& range2, F f = {}, Proj1 proj1 = {},
                    Proj2 proj2 = {}) const {
        return Algorithm::template borrowed<R1, R2>(
            Algorithm::run(options, std::ranges::begin(range1), size_of(range1),
                           std::ranges::begin(range2), size_of(range2), f, proj1, proj2));
    }
    template <std::random_access_iterator I1, sized_end_of<I1> S1, std::random_access_iterator I2,
              sized_end_of<I2> S2, class F = Default, class Proj1 = std::identity,
              class Proj2 = std::identity>
        requires(Algorithm::template accepts<I1, I2, F, Proj1, Proj2>)
    auto operator()(I1 first1, S1 last1, I2 first2, S2 last2, F f = {}, Proj1 proj1 = {},
                    Proj2 proj2 = {}) const {
        return Algorithm::run(automatic, first1, distance_of(first1, last1), first2,
                              distance_of(first2, last2), f, proj1, proj2);
    }
    template <divisible_range R1, divisible_range R2, class F = Default,
              class Proj1 = std::identity, class Proj2 = std::identity>
        requires(Algorithm::template accepts<std::ranges::iterator_t<R1>,
                                             std::ranges::iterator_t<R2>, F, Proj1, Proj2>)
    auto operator()(R1&& range1, R2&& range2, F f = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
        return Algorithm::template borrowed<R1, R2>(
            Algorithm::run(automatic, std::ranges::begin(range1), size_of(range1),
                           std::ranges::begin(range2), size_of(range2), f, proj1, proj2));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, two ranges or "
                      "two iterators of each, a function of one element of each, and projections");
    }
};
template <class R1, class R2, class I1, class I2>
constexpr auto borrowed_in_in(std::ranges::in_in_result<I1, I2> result) {
    return std::ranges::in_in_result<std::ranges::borrowed_iterator_t<R1>,
                                     std::ranges::borrowed_iterator_t<R2>>{
        borrowed_iterator<R1>(result.in1), borrowed_iterator<R2>(result.in2)};
}

// algorithm(range1, range2, out, function = Default, projection1, projection2), also with two
// iterators of each.
template <class Algorithm, class Default>
struct pair_output_calls {
    template <std::random_access_iterator I1, sized_end_of<I1> S1, std::random_access_iterator I2,
              sized_end_of<I2> S2, std::random_access_iterator O, output_end_of<O> OS,
              class F = Default, class Proj1 = std::identity, class Proj2 = std::identity>
        requires(Algorithm::template accepts_two<I1, I2, O, F, Proj1, Proj2>)
    auto operator()(const with& options, I1 first1, S1 last1, I2 first2, S2 last2, O out,
                    OS out_last, F f = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
        return Algorithm::run_two(options, first1, distance_of(first1, last1), first2,
                                  distance_of(first2, last2), out, distance_of(out, out_last), f,
                                  proj1, proj2);
    }
    template <divisible_range R1, divisible_range R2, divisible_range OR, class F = Default,
              class Proj1 = std::identity, class Proj2 = std::identity>
        requires(Algorithm::template accepts_two<std::ranges::iterator_t<R1>,
                                                 std::ranges::iterator_t<R2>,
                                                 std::ranges::iterator_t<OR>, F, Proj1, Proj2>)
    auto operator()(const with& options, R1&& range1, R2&& range2, OR&& out, F f = {},
                    Proj1 proj1 = {}, Proj2 proj2 = {}) const {
        auto result = Algorithm::run_two(options, std::ranges::begin(range1), size_of(range1),
                                         std::ranges::begin(range2), size_of(range2),
                                         std::ranges::begin(out), size_of(out), f, proj1, proj2);
        return std::ranges::in_in_out_result<std::ranges::borrowed_iterator_t<R1>,
                                             std::ranges::borrowed_iterator_t<R2>,
                                             std::ranges::borrowed_iterator_t<OR>>{
            borrowed_iterator<R1>(result.in1), borrowed_iterator<R2>(result.in2),
            borrowed_iterator<OR>(result.out)};
    }
    template <std::random_access_iterator I1, sized_end_of<I1> S1, std::random_access_iterator I2,
              sized_end_of<I2> S2, std::random_access_iterator O, output_end_of<O> OS,
              class F = Default, class Proj1 = std::identity, class Proj2 = std::identity>
        requires(Algorithm::template accepts_two<I1, I2, O, F, Proj1, Proj2>)
    auto operator()(I1 first1, S1 last1, I2 first2, S2 last2, O out, OS out_last, F f = {},
                    Proj1 proj1 = {}, Proj2 proj2 = {}) const {
        return (*this)(automatic, first1, last1, first2, last2, out, out_last, std::move(f),
                       std::move(proj1), std::move(proj2));
    }
    template <divisible_range R1, divisible_range R2, divisible_range OR, class F = Default,
              class Proj1 = std::identity, class Proj2 = std::identity>
        requires(Algorithm::template accepts_two<std::ranges::iterator_t<R1>,
                                                 std::ranges::iterator_t<R2>,
                                                 std::ranges::iterator_t<OR>, F, Proj1, Proj2>)
    auto operator()(R1&& range1, R2&& range2, OR&& out, F f = {}, Proj1 proj1 = {},
                    Proj2 proj2 = {}) const {
        return (*this)(automatic, std::forward<R1>(range1), std::forward<R2>(range2),
                       std::forward<OR>(out), std::move(f), std::move(proj1), std::move(proj2));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, the elements "
                      "of one or two ranges, an output, and a function whose result can be "
                      "assigned to the output's elements");
    }
};

} // namespace sennit::par::detail
