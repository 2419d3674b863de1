// SPDX-License-Identifier: Apache-2.0
// par::min_element, max_element, minmax_element, min, max, minmax: the extreme elements of a range,
// in parallel.
//
//     auto cheapest = sennit::par::min_element(orders, {}, &order::price);
//     auto [low, high] = sennit::par::minmax(temperatures);
//
// Ties are decided as in std: the first of several least elements, and the first of several
// greatest elements for max_element and max, but the last greatest element for minmax_element and
// minmax.
//
// Guarantees, exceptions, cancellation and cost as for `par::for_each`. min_element and max_element
// call the comparison n - 1 times, minmax_element at most 2 (n - 1) times.
#pragma once

#include "sennit/par/detail/call_forms.hpp"
#include "sennit/par/detail/extreme_numbers.hpp"

namespace sennit::par {

namespace detail {

// Compares two elements by their iterators.
template <class I, class Less, class Proj>
struct element_order {
    [[no_unique_address]] shared_callable<Less> less;
    [[no_unique_address]] shared_callable<Proj> proj;

    [[gnu::always_inline]] bool operator()(const I& a, const I& b) const {
        own_copy<Less> compare = less.call;
        own_copy<Proj> part = proj.call;
        return static_cast<bool>(
            std::invoke(compare, std::invoke(part, *a), std::invoke(part, *b)));
    }
};

// New extreme elements are rare. The hint keeps compilers from a conditional move, which would make
// each comparison wait for the one before it.
[[gnu::always_inline]] inline bool rare(bool condition) {
    return __builtin_expect_with_probability(condition, 1, 0.001);
}

// Returns the iterator that `better(candidate, best)` prefers to all others; `first` if n is 0.
template <class I, class Better>
I best_element(const with& options, I first, std::size_t n, const Better& better) {
    const auto pick = [better](I low, I high) { return better(high, low) ? high : low; };
    const auto found = run_values<I>(
        options, n,
        [first, better](std::size_t from, std::size_t to) {
            const I end = advanced(first, to);
            I best = advanced(first, from);
            for (I at = best; ++at != end;)
                if (rare(better(at, best))) best = at;
            return best;
        },
        pick);
    return found.value_or(first);
}

// Returns the first number that no other number is better than; `first` if n is 0.
template <class Better, class I>
I best_number(const with& options, I first, std::size_t n) {
    using extremes = extreme_numbers<std::iter_value_t<I>, Better>;
    const auto* const numbers = std::to_address(first);
    const auto found = run_values<std::size_t>(
        options, n,
        [numbers](std::size_t from, std::size_t to) noexcept {
            return extremes::first_best(numbers, from, to, from);
        },
        [numbers](std::size_t low, std::size_t high) noexcept {
            return Better()(numbers[high], numbers[low]) ? high : low;
        });
    return advanced(first, found.value_or(0));
}

struct ordered_elements {
    template <class I, class Less, class Proj>
    static constexpr bool accepts = compares<Less, I, I, Proj, Proj>;
};

struct min_element_algorithm : ordered_elements {
    template <std::integral T>
    static bool better(T candidate, T best) noexcept {
        return candidate < best;
    }
    template <class I, class Less, class Proj>
    static I run(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        if constexpr (compares_numbers<I, Less, Proj>)
            return best_number<is_less>(options, first, n);
        else
            return best_element(options, first, n, element_order<I, Less, Proj>{{less}, {proj}});
    }
};
struct max_element_algorithm : ordered_elements {
    template <std::integral T>
    static bool better(T candidate, T best) noexcept {
        return best < candidate;
    }
    template <class I, class Less, class Proj>
    static I run(const with& options, I first, std::size_t n, Less& less, Proj& proj) {
        if constexpr (compares_numbers<I, Less, Proj>) {
            return best_number<is_greater>(options, first, n);
        } else {
            const element_order<I, Less, Proj> order{{less}, {proj}};
            return best_element(options, first, n, [order](const I& a, const I& b) {
                return order(b, a); // a is better if the best one is less
            });
        }
    }
};
// True for elements that are compared fastest by their values, in vector instructions: equal
// integers cannot be told apart.
template <class I, class Less, class Proj>
inline constexpr bool compares_integers =
    std::contiguous_iterator<I> && std::integral<std::iter_value_t<I>> &&
    std::same_as<Less, std::ranges::less> && std::same_as<Proj, std::identity>;

// Returns the integer that `better(candidate, best)` prefers to all others. Requires n > 0.
template <class I, class Better>
std::iter_value_t<I> best_integer(const with& options, I first, std::size_t n,
                                  const Better& better) {
    using value = std::iter_value_t<I>;
    const auto pick = [better](value low, value high) noexcept {
        return better(high, low) ? high : low;
    };
    return *run_values<value>(
        options, n,
        [numbers = std::to_address(first), pick](std::size_t from, std::size_t to) noexcept {
            value best = numbers[from];
            while (++from < to) best = pick(best, numbers[from]);
            return best;
        },
        pick);
}

struct minmax_element_algorithm : ordered_elements {
    template <class I, class Less, class Proj>
    static std::ranges::min_max_result<I> run(const with& options, I first, std::size_t n,
                                              Less& less, Proj& proj) {
        using both = std::ranges::min_max_result<I>;
        const element_order<I, Less, Proj> order{{less}, {proj}};
        const auto found = run_values<both>(
            options, n,
            [first, order](std::size_t from, std::size_t to) {
                if constexpr (compares_numbers<I, Less, Proj>)
                    return extreme_numbers_of(first, from, to);
                else
                    return extremes_of(advanced(first, from), advanced(first, to), order);
            },
            [order](both low, both high) {
                return both{order(high.min, low.min) ? high.min : low.min,
                            order(high.max, low.max) ? low.max : high.max};
            });
        return found.value_or(both{first, first});
    }

private:
    template <class I, class Order>
    [[gnu::always_inline]] static std::ranges::min_max_result<I> extremes_of(I least, const I& end,
                                                                             const Order& order) {
        I greatest = least;
        for (I at = least; ++at != end;) {
            if (rare(order(at, least)))
                least = at;
            else if (rare(!order(at, greatest)))
                greatest = at;
        }
        return {least, greatest};
    }
    template <class I>
    static std::ranges::min_max_result<I> extreme_numbers_of(const I& first, std::size_t from,
                                                             std::size_t to) noexcept {
        const auto at = places_of_extremes(std::to_address(first), from, to);
        return {advanced(first, at.first_least), advanced(first, at.last_greatest)};
    }
};

// The forms of min, max and minmax: only ranges, of at least one element. The result is a value.
template <class Algorithm, class Convert>
struct extreme_calls {
    template <class R>
    static constexpr bool yields_values =
        std::constructible_from<std::ranges::range_value_t<R>, std::ranges::range_reference_t<R>>;

    template <divisible_range R, class Less = std::ranges::less, class Proj = std::identity>
        requires(yields_values<R> &&
                 Algorithm::template accepts<std::ranges::iterator_t<R>, Less, Proj>)
    auto operator()(const with& options, R&& range, Less less = {}, Proj proj = {}) const {
        return run(options, range, less, proj);
    }
    template <divisible_range R, class Less = std::ranges::less, class Proj = std::identity>
        requires(yields_values<R> &&
                 Algorithm::template accepts<std::ranges::iterator_t<R>, Less, Proj>)
    auto operator()(R&& range, Less less = {}, Proj proj = {}) const {
        return run(automatic, range, less, proj);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: this parallel algorithm takes the options or nothing, a range whose "
                      "elements can be copied, a comparison of two elements, and a projection; for "
                      "elements that cannot be copied use par::min_element and its kin");
    }

private:
    template <class R, class Less, class Proj>
    static auto run(const with& options, R& range, Less& less, Proj& proj) {
        using iterator = std::ranges::iterator_t<R>;
        const iterator first = std::ranges::begin(range);
        const std::size_t n = size_of(range);
        if constexpr (requires(std::ranges::range_value_t<R> a) { Algorithm::better(a, a); } &&
                      compares_integers<iterator, Less, Proj>)
            return best_integer(options, first, n, [](auto candidate, auto best) noexcept {
                return Algorithm::better(candidate, best);
            });
        else
            return Convert::template to<std::ranges::range_value_t<R>>(
                Algorithm::run(options, first, n, less, proj));
    }
};
struct convert_one {
    template <class T, class I>
    static T to(I found) {
        return static_cast<T>(*found);
    }
};
struct convert_both {
    template <class T, class Both>
    static std::ranges::min_max_result<T> to(Both found) {
        return {static_cast<T>(*found.min), static_cast<T>(*found.max)};
    }
};

} // namespace detail

// min_element(range, comp = less, proj = {}), min_element(first, last, …), both with options in
// front. Blocks until all elements are compared. Returns an iterator to the first least element,
// the end if there is none. Throws the exception of a comparison, and `cancelled`.
inline constexpr detail::algorithm<
    detail::order_calls<detail::min_element_algorithm, std::ranges::less>>
    min_element{};
// Returns an iterator to the first greatest element; otherwise like min_element.
inline constexpr detail::algorithm<
    detail::order_calls<detail::max_element_algorithm, std::ranges::less>>
    max_element{};
// Returns {min, max}: iterators to the first least and to the last greatest element; otherwise like
// min_element.
inline constexpr detail::algorithm<
    detail::order_calls<detail::minmax_element_algorithm, std::ranges::less>>
    minmax_element{};

// min(range, comp = less, proj = {}), also with options in front. Returns a copy of the first least
// element. The range must not be empty. Blocks and throws like min_element.
inline constexpr detail::algorithm<
    detail::extreme_calls<detail::min_element_algorithm, detail::convert_one>>
    min{};
// Returns a copy of the first greatest element; otherwise like min.
inline constexpr detail::algorithm<
    detail::extreme_calls<detail::max_element_algorithm, detail::convert_one>>
    max{};
// Returns {min, max}: copies of the first least and the last greatest element; otherwise like min.
inline constexpr detail::algorithm<
    detail::extreme_calls<detail::minmax_element_algorithm, detail::convert_both>>
    minmax{};

} // namespace sennit::par
