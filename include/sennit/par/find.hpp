// SPDX-License-Identifier: Apache-2.0
// par::find, find_if, find_if_not, find_any, find_any_if, contains: search an element, in parallel,
// and stop at the match.
//
//     auto at = sennit::par::find(keys, 42);
//     auto bad = sennit::par::find_if(orders, is_late, &order::due);
//     if (sennit::par::contains(names, "root")) …
//
// find, find_if and find_if_not return the first match, as in std. find_any and find_any_if return
// an arbitrary match, and may stop earlier.
//
// All workers take chunks from the front of the range, in order. A worker examines at most one
// chunk (about 10 µs) behind the match. The predicate is therefore called for some elements behind
// the match, unless one worker runs the search alone.
//
// Guarantees as for `par::for_each`. Exceptions. The search ends like the serial one: it throws the
// exception of an element if no element before it matches. Exceptions of elements behind the match
// are dropped. Cancellation as for `par::for_each`.
//
// Cost without help of another worker: the time of the serial search and about 30 ns for each
// chunk. A match in the first element takes about 60 ns. No allocation.
#pragma once

#include "sennit/par/count.hpp"
#include "sennit/par/detail/search_loop.hpp"

#include <cstdint>
#include <memory>
#include <type_traits>

namespace sennit::par {

namespace detail {

// An unsigned integer of as many bytes as T.
template <class T>
using mask_of = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// True if the target has vector instructions that compare elements of this size. The base
// instruction set of x86-64 compares no vectors of 8-byte integers.
#if defined(__x86_64__) && !defined(__SSE4_1__)
inline constexpr std::size_t longest_compared_in_vectors = 4;
#else
inline constexpr std::size_t longest_compared_in_vectors = 8;
#endif

// Compares several elements at a time, if possible by vector instructions. Only for numbers, whose
// comparison has no effects.
template <class T, class Value>
std::size_t find_number(const T* numbers, std::size_t first, std::size_t last, Value wanted) {
    if constexpr (sizeof(T) <= longest_compared_in_vectors) {
        constexpr std::size_t block = 64;
        for (; last - first >= block; first += block) {
            // A mask as wide as an element: g++ makes slow vector code of a bool.
            mask_of<T> any = 0;
            const T* const numbers_of_block = numbers + first;
            for (std::size_t i = 0; i < block; ++i)
                any |= static_cast<mask_of<T>>(numbers_of_block[i] == wanted);
            if (any != 0) break;
        }
    } else {
        for (; last - first >= 4; first += 4) {
            const T* const four = numbers + first;
            if (four[0] == wanted) return first;
            if (four[1] == wanted) return first + 1;
            if (four[2] == wanted) return first + 2;
            if (four[3] == wanted) return first + 3;
        }
    }
    while (first != last && !(numbers[first] == wanted)) ++first;
    return first;
}
template <class I, class T, class Proj>
concept numbers_in_a_row =
    std::contiguous_iterator<I> && std::same_as<Proj, std::identity> &&
    std::same_as<std::iter_value_t<I>, std::remove_const_t<T>> && std::is_arithmetic_v<T>;

template <bool Wanted, class I, class Test, class Proj>
std::size_t find_index(const with& options, I first, std::size_t n, Test& test, Proj& proj,
                       bool any) {
    return search_elements(
        options, first, n,
        [test = shared_callable{test}, proj = shared_callable{proj}](auto&& element) {
            own_copy<Test> matches = test.call;
            own_copy<Proj> part = proj.call;
            return static_cast<bool>(std::invoke(
                       matches, std::invoke(part, std::forward<decltype(element)>(element)))) ==
                   Wanted;
        },
        any);
}
template <class I, class T, class Proj>
std::size_t find_value(const with& options, I first, std::size_t n, const T& value, Proj& proj,
                       bool any) {
    if constexpr (numbers_in_a_row<I, T, Proj>) {
        return search(
            options, n,
            [numbers = n == 0 ? nullptr : std::to_address(first), value](
                std::size_t from, std::size_t to) { return find_number(numbers, from, to, value); },
            any);
    } else {
        const auto equals = equality_with(value);
        return find_index<true>(options, first, n, equals, proj, any);
    }
}

// The algorithms that search by a predicate. `Wanted` is the value of the predicate, `Any` says
// whether every match is as good as the first one, and `Convert` makes the result.
template <bool Wanted, bool Any, class Convert>
struct find_if_algorithm {
    template <class I, class Test, class Proj>
    static constexpr bool accepts = tests<Test, I, Proj>;
    template <class I, class Test, class Proj>
    static auto run(const with& options, I first, std::size_t n, Test& test, Proj& proj) {
        return Convert::to(first, n, find_index<Wanted>(options, first, n, test, proj, Any));
    }
};
template <bool Any, class Convert>
struct find_algorithm {
    template <class I, class T, class Proj>
    static constexpr bool accepts = equals_elements<T, I, Proj>;
    template <class I, class T, class Proj>
    static auto run(const with& options, I first, std::size_t n, T& value, Proj& proj) {
        return Convert::to(first, n,
                           find_value(options, first, n, std::as_const(value), proj, Any));
    }
};
struct to_iterator {
    template <class I>
    static I to(I first, std::size_t, std::size_t found) {
        return advanced(first, found);
    }
};
template <bool IfFound>
struct to_bool {
    template <class I>
    static bool to(I, std::size_t n, std::size_t found) {
        return (found != n) == IfFound;
    }
};

template <class Algorithm>
using element_algorithm = algorithm<element_calls<Algorithm>>;

} // namespace detail

// find(range, value, proj = {}), find(first, last, value, proj = {}), both with options in front.
// Blocks until no worker examines an element any more. Returns an iterator to the first element
// with proj(element) == value, the end if there is none. Throws the exception of an element in
// front of the match, and `cancelled`.
inline constexpr detail::element_algorithm<detail::find_algorithm<false, detail::to_iterator>>
    find{};
// Like find, for the first element that satisfies pred(proj(element)).
inline constexpr detail::element_algorithm<
    detail::find_if_algorithm<true, false, detail::to_iterator>>
    find_if{};
// Like find, for the first element that does not satisfy pred(proj(element)).
inline constexpr detail::element_algorithm<
    detail::find_if_algorithm<false, false, detail::to_iterator>>
    find_if_not{};
// Like find, but returns an arbitrary match.
inline constexpr detail::element_algorithm<detail::find_algorithm<true, detail::to_iterator>>
    find_any{};
// Like find_if, but returns an arbitrary match.
inline constexpr detail::element_algorithm<
    detail::find_if_algorithm<true, true, detail::to_iterator>>
    find_any_if{};
// Like find, but returns whether there is a match.
inline constexpr detail::element_algorithm<detail::find_algorithm<true, detail::to_bool<true>>>
    contains{};

} // namespace sennit::par
