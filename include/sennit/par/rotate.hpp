// SPDX-License-Identifier: Apache-2.0
// par::rotate, shift_left, shift_right: move all elements of a range by a distance, in place, in
// parallel.
//
//     sennit::par::rotate(history, history.begin() + 10);  // element 10 becomes the first one
//     auto kept = sennit::par::shift_left(history, 10);
//
// rotate puts the elements that leave the range at its other end. After shift_left and shift_right
// these places hold unspecified values.
//
// Guarantees. The elements are a permutation of the former ones after rotate, also after a
// cancellation. A move or exchange of elements that throws leaves unspecified values.
//
// Exceptions and cancellation as for `par::for_each`. Cost. Distances of at most 256 KiB: each
// element moves once; each worker allocates memory for as many elements as the distance has, and
// the joins move them once more. If that memory is refused, one worker moves the elements. Longer
// distances, and elements whose moves may throw: each element is exchanged up to twice. rotate
// takes the shorter one of both directions.
#pragma once

#include "sennit/par/detail/shifted_piece.hpp"
#include "sennit/par/reverse.hpp"

namespace sennit::par {

namespace detail {

// The iterator that walks from `at` to the front. A reversed iterator is not reversed again,
// because std::ranges::move of libstdc++ 12 leaves the range for two reversals.
template <class I>
auto backwards(I at) {
    return std::reverse_iterator(at);
}
template <class I>
I backwards(std::reverse_iterator<I> at) {
    return at.base();
}

template <class I>
void swap_blocks(const with& options, I one, I other, std::size_t n) {
    run_chunks(options, n, [one, other](std::size_t from, std::size_t to) {
        I a = advanced(one, from);
        I b = advanced(other, from);
        // Compilers vectorise a loop with one end; std::ranges::swap_ranges looks for two.
        for (; from != to; ++from, (void)++a, (void)++b) std::ranges::iter_swap(a, b);
    });
}

// Exchanges the blocks of n1 and n2 elements at `first`.
template <class I>
void rotate_elements(const with& options, I first, std::size_t n1, std::size_t n2) {
    while (n1 != 0 && n2 != 0) {
        const std::size_t n = n1 + n2;
        if constexpr (moves_to_room<I>) {
            if (n1 <= n2 && is_short_shift<I>(n1)) return rotate_by_pieces(options, first, n, n1);
            if (is_short_shift<I>(n2))
                return rotate_by_pieces(options, backwards(advanced(first, n)), n, n2);
        } else if (constexpr std::size_t few = 1024; std::min(n1, n2) < few) {
            reverse_algorithm::run(options, first, n1);
            reverse_algorithm::run(options, advanced(first, n1), n2);
            reverse_algorithm::run(options, first, n);
            return;
        }
        // The shorter block goes to its place, and what stood there joins the rest.
        if (n1 <= n2) {
            swap_blocks(options, first, advanced(first, n1), n1);
            first = advanced(first, n1);
            n2 -= n1;
        } else {
            swap_blocks(options, advanced(first, n1 - n2), advanced(first, n1), n2);
            n1 -= n2;
        }
    }
}

struct rotate_algorithm {
    template <class I>
    static constexpr bool accepts = std::permutable<I> && !shares_words<I>;
    template <class I>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t middle,
                                        std::size_t n) {
        rotate_elements(options, first, middle, n - middle);
        return {advanced(first, n - middle), advanced(first, n)};
    }
};

// Moves the elements [distance, n) to the front.
template <class I>
void shift_elements(const with& options, I first, std::size_t n, std::size_t distance) {
    if constexpr (moves_to_room<I>) {
        if (is_short_shift<I>(distance)) return rotate_by_pieces(options, first, n, distance);
    } else if (constexpr std::size_t few = 1024; distance < few) {
        std::ranges::move(advanced(first, distance), advanced(first, n), first);
        return;
    }
    // No element of a round goes to a place of this round.
    for (std::size_t round = distance; round < n; round += std::min(distance, n - round)) {
        const I from = advanced(first, round);
        const I to = advanced(first, round - distance);
        run_chunks(options, std::min(distance, n - round),
                   [from, to](std::size_t a, std::size_t b) {
                       std::ranges::move(advanced(from, a), advanced(from, b), advanced(to, a));
                   });
    }
}

template <bool Left>
struct shift_calls {
    template <class I>
    static constexpr bool accepts = std::permutable<I> && !shares_words<I>;
    template <class I>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n,
                                        std::iter_difference_t<I> by) {
        const std::size_t distance = by > 0 ? static_cast<std::size_t>(by) : 0;
        const I last = advanced(first, n);
        if (distance >= n)
            return Left ? std::ranges::subrange<I>{first, distance == 0 ? last : first}
                        : std::ranges::subrange<I>{distance == 0 ? first : last, last};
        if (distance != 0) {
            if constexpr (Left)
                shift_elements(options, first, n, distance);
            else
                shift_elements(options, backwards(last), n, distance);
        }
        if constexpr (Left)
            return {first, advanced(first, n - distance)};
        else
            return {advanced(first, distance), last};
    }

    template <std::random_access_iterator I, sized_end_of<I> S>
        requires(accepts<I>)
    auto operator()(const with& options, I first, S last, std::iter_difference_t<I> by) const {
        return run(options, first, distance_of(first, last), by);
    }
    template <divisible_range R>
        requires(accepts<std::ranges::iterator_t<R>>)
    auto operator()(const with& options, R&& range, std::ranges::range_difference_t<R> by) const {
        return borrowed<R>(run(options, std::ranges::begin(range), size_of(range), by));
    }
    template <std::random_access_iterator I, sized_end_of<I> S>
        requires(accepts<I>)
    auto operator()(I first, S last, std::iter_difference_t<I> by) const {
        return (*this)(automatic, first, last, by);
    }
    template <divisible_range R>
        requires(accepts<std::ranges::iterator_t<R>>)
    auto operator()(R&& range, std::ranges::range_difference_t<R> by) const {
        return (*this)(automatic, std::forward<R>(range), by);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::shift_left and par::shift_right take the options or nothing, "
                      "a range or two iterators of it, whose elements can be moved, and a number");
    }
};

struct rotate_calls {
    template <std::random_access_iterator I, sized_end_of<I> S>
        requires(rotate_algorithm::accepts<I>)
    auto operator()(const with& options, I first, I middle, S last) const {
        return rotate_algorithm::run(options, first, distance_of(first, middle),
                                     distance_of(first, last));
    }
    template <divisible_range R>
        requires(rotate_algorithm::accepts<std::ranges::iterator_t<R>>)
    auto operator()(const with& options, R&& range, std::ranges::iterator_t<R> middle) const {
        const auto first = std::ranges::begin(range);
        return borrowed<R>(
            rotate_algorithm::run(options, first, distance_of(first, middle), size_of(range)));
    }
    template <std::random_access_iterator I, sized_end_of<I> S>
        requires(rotate_algorithm::accepts<I>)
    auto operator()(I first, I middle, S last) const {
        return (*this)(automatic, first, middle, last);
    }
    template <divisible_range R>
        requires(rotate_algorithm::accepts<std::ranges::iterator_t<R>>)
    auto operator()(R&& range, std::ranges::iterator_t<R> middle) const {
        return (*this)(automatic, std::forward<R>(range), middle);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::rotate takes the options or nothing, a range and an iterator "
                      "into it, or three iterators; the elements must be movable");
    }
};

} // namespace detail

// rotate(range, middle), rotate(first, middle, last), both with options in front. Element `middle`
// becomes the first one. Blocks until all elements are moved. Returns the subrange from the former
// first element to the end. Throws the exception of a move, and `cancelled`.
inline constexpr detail::algorithm<detail::rotate_calls> rotate{};

// shift_left(range, distance), shift_left(first, last, distance), both with options in front. Moves
// each element to the front by `distance` places. Blocks until all elements are moved. Returns the
// elements that are left, as std::ranges::shift_left does. Throws like rotate.
inline constexpr detail::algorithm<detail::shift_calls<true>> shift_left{};
// Like shift_left, but moves each element to the back.
inline constexpr detail::algorithm<detail::shift_calls<false>> shift_right{};

} // namespace sennit::par
