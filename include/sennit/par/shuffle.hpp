// SPDX-License-Identifier: Apache-2.0
// par::shuffle: puts the elements of a range into a random order, in parallel.
//
//     sennit::par::shuffle(cards, 42);
//
// The order depends on the seed, on the number of elements, and on whether their moves may throw;
// not on the number of workers, nor on the machine. Each order is equally likely within the limits
// of 64-bit random numbers. The numbers are not for cryptography. Use `std::ranges::shuffle` with
// your generator where you need its sequence.
//
// Guarantees as for `par::for_each`. Exceptions: std::bad_alloc before an element moves, and those
// of the moves. Cancellation: a shuffle that has not begun throws `cancelled`; a shuffle that has
// begun is completed.
//
// Cost: more than 65,536 elements are distributed at random to buckets that fit into the cache;
// this needs room for all elements, and each element moves three times. Fewer elements, and
// elements whose moves may throw, are exchanged on one worker.
#pragma once

#include "sennit/par/detail/distribution.hpp"
#include "sennit/par/detail/shifted_piece.hpp"
#include "sennit/par/sort.hpp"

#include <cstdint>

namespace sennit::par {

namespace detail {

// The numbers of the generator SplitMix64, which can begin anywhere in its sequence.
struct random_numbers {
    std::uint64_t state;

    static std::uint64_t mixed(std::uint64_t value) noexcept {
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
        return value ^ (value >> 31);
    }
    static constexpr std::uint64_t step = 0x9E3779B97F4A7C15u;

    std::uint64_t next() noexcept { return mixed(state += step); }
    // A number below `bound`.
    std::size_t below(std::size_t bound) noexcept {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::size_t>((static_cast<wide>(next()) * bound) >> 64);
    }
};

template <class I>
void shuffle_serially(I first, std::size_t n, random_numbers random) {
    for (std::size_t i = n; i > 1; --i) {
        const std::size_t j = random.below(i);
        if (j != i - 1) std::ranges::iter_swap(advanced(first, i - 1), advanced(first, j));
    }
}

template <class I>
void shuffle_elements(const with& options, I first, std::size_t n, std::uint64_t seed) {
    const std::uint64_t key = random_numbers::mixed(seed + random_numbers::step);
    loop_control loop(options);
    if (loop.in_scope() && loop.dropped(0)) throw sennit::cancelled();
    constexpr std::size_t short_range = 65'536;
    if constexpr (moves_to_room<I>) {
        if (n > short_range) {
            constexpr std::size_t in_bucket = 16'384;
            const std::size_t buckets = std::min<std::size_t>(std::bit_ceil(n / in_bucket), 2048);
            const sort_room<std::iter_value_t<I>> room(n);
            distribution parts(n, buckets);
            if (!room.get() || parts.refused()) throw std::bad_alloc();
            auto* const to = room.get();
            const auto bucket_of = [key, buckets](std::size_t i) noexcept {
                const std::uint64_t number = key + i * random_numbers::step;
                return static_cast<std::size_t>(random_numbers::mixed(number)) & (buckets - 1);
            };
            run_sort([&] {
                parts.count(loop, bucket_of);
                parts.scatter(loop, bucket_of, [&](std::size_t i, std::size_t place) noexcept {
                    std::construct_at(to + place, std::ranges::iter_move(advanced(first, i)));
                });
                for_parts(loop, 0, buckets, [&](std::size_t bucket) noexcept {
                    const std::size_t begin = parts.begin(bucket);
                    const std::size_t end = parts.end(bucket);
                    shuffle_serially(to + begin, end - begin,
                                     {random_numbers::mixed(key ^ (bucket + 1))});
                    std::ranges::move(to + begin, to + end, advanced(first, begin));
                    std::destroy(to + begin, to + end);
                });
            });
            return;
        }
    }
    shuffle_serially(first, n, {key});
}

struct shuffle_calls {
    template <class I>
    static constexpr bool accepts = std::permutable<I> && !shares_words<I>;

    template <std::random_access_iterator I, sized_end_of<I> S>
        requires(accepts<I>)
    I operator()(const with& options, I first, S last, std::uint64_t seed) const {
        const std::size_t n = distance_of(first, last);
        shuffle_elements(options, first, n, seed);
        return advanced(first, n);
    }
    template <divisible_range R>
        requires(accepts<std::ranges::iterator_t<R>>)
    auto operator()(const with& options, R&& range, std::uint64_t seed) const {
        const auto first = std::ranges::begin(range);
        shuffle_elements(options, first, size_of(range), seed);
        return borrowed<R>(advanced(first, size_of(range)));
    }
    template <std::random_access_iterator I, sized_end_of<I> S>
        requires(accepts<I>)
    I operator()(I first, S last, std::uint64_t seed) const {
        return (*this)(automatic, first, last, seed);
    }
    template <divisible_range R>
        requires(accepts<std::ranges::iterator_t<R>>)
    auto operator()(R&& range, std::uint64_t seed) const {
        return (*this)(automatic, std::forward<R>(range), seed);
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::shuffle takes the options or nothing, a range or two iterators "
                      "of it, whose elements can be moved, and a seed (a number)");
    }
};

} // namespace detail

// shuffle(range, seed), shuffle(first, last, seed), both with options in front. Blocks until the
// elements are in their new order. Returns the end. Throws as the head of this file says.
inline constexpr detail::algorithm<detail::shuffle_calls> shuffle{};

} // namespace sennit::par
