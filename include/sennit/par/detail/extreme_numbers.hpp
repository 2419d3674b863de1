// SPDX-License-Identifier: Apache-2.0
// The places of the least and the greatest of numbers in a row, by vector instructions.
//
// Algorithm. The numbers are read in blocks that stay in the cache. The extreme value of a block is
// computed without a branch, in `lanes` sequences that do not wait for each other. Only a block
// whose value replaces the best value so far is read a second time, for its place. New extreme
// values are rare, so most blocks are read once.
//
// A NaN compares as false, so the value of a block may be a NaN. It then replaces no other value:
// the first best number needs a comparison that is true, and the last one finds no equal number.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>

namespace sennit::par::detail {

// True if the elements are numbers in a row that are compared as they are.
template <class I, class Less, class Proj>
inline constexpr bool compares_numbers = false;
template <std::contiguous_iterator I>
    requires std::is_arithmetic_v<std::iter_value_t<I>> &&
                 std::convertible_to<decltype(std::to_address(std::declval<const I&>())),
                                     const std::iter_value_t<I>*>
inline constexpr bool compares_numbers<I, std::ranges::less, std::identity> = true;

struct is_less {
    template <class T>
    [[gnu::always_inline]] bool operator()(T candidate, T best) const noexcept {
        return candidate < best;
    }
};
struct is_greater {
    template <class T>
    [[gnu::always_inline]] bool operator()(T candidate, T best) const noexcept {
        return best < candidate;
    }
};

// `better(candidate, best)` says whether a candidate replaces the best number so far.
template <class T, class Better>
class extreme_numbers {
public:
    static constexpr std::size_t lanes = 128 / sizeof(T);
    static constexpr std::size_t block = 16 * lanes;

    // Returns the index of the first best number of the block that begins at `first`, and of the
    // one at `place`, which stands in front of the block or begins it.
    static std::size_t first_with_block(const T* numbers, std::size_t first,
                                        std::size_t place) noexcept {
        const T value = best_of_block(numbers + first);
        if (!better(value, numbers[place])) return place;
        while (numbers[first] != value) ++first;
        return first;
    }
    // Returns the index of the last best number of that block, and of the one at `place`.
    static std::size_t last_with_block(const T* numbers, std::size_t first,
                                       std::size_t place) noexcept {
        const T value = best_of_block(numbers + first);
        return better(numbers[place], value) ? place : last_in_block(numbers, first, value, place);
    }
    // Returns the index of the first best number of [first, last), and of the one at `place`.
    static std::size_t first_best(const T* numbers, std::size_t first, std::size_t last,
                                  std::size_t place) noexcept {
        for (; last - first >= block; first += block)
            place = first_with_block(numbers, first, place);
        for (; first != last; ++first)
            if (better(numbers[first], numbers[place])) place = first;
        return place;
    }
    // Returns the index of the last best number of [first, last), which are fewer than a block, and
    // of the one at `place`.
    static std::size_t last_best_of_few(const T* numbers, std::size_t first, std::size_t last,
                                        std::size_t place) noexcept {
        for (; first != last; ++first)
            if (!better(numbers[place], numbers[first])) place = first;
        return place;
    }

private:
    [[gnu::always_inline]] static bool better(T candidate, T best) noexcept {
        return Better()(candidate, best);
    }

    static T best_of_block(const T* numbers) noexcept {
        T best[lanes];
        for (std::size_t k = 0; k != lanes; ++k) best[k] = numbers[k];
        for (std::size_t i = lanes; i != block; i += lanes)
            for (std::size_t k = 0; k != lanes; ++k)
                best[k] = better(numbers[i + k], best[k]) ? numbers[i + k] : best[k];
        for (std::size_t half = lanes / 2; half != 0; half /= 2)
            for (std::size_t k = 0; k != half; ++k)
                best[k] = better(best[half + k], best[k]) ? best[half + k] : best[k];
        return best[0];
    }
    // Returns `otherwise` if no number equals the value, which is then a NaN.
    static std::size_t last_in_block(const T* numbers, std::size_t first, T value,
                                     std::size_t otherwise) noexcept {
        for (std::size_t at = first + block; at != first; --at)
            if (numbers[at - 1] == value) return at - 1;
        return otherwise;
    }
};

struct extreme_places {
    std::size_t first_least;
    std::size_t last_greatest;
};

// Of [first, last), at least one number.
template <class T>
extreme_places places_of_extremes(const T* numbers, std::size_t first, std::size_t last) noexcept {
    using least = extreme_numbers<T, is_less>;
    using greatest = extreme_numbers<T, is_greater>;
    extreme_places at{first, first};
    for (; last - first >= least::block; first += least::block) {
        at.first_least = least::first_with_block(numbers, first, at.first_least);
        at.last_greatest = greatest::last_with_block(numbers, first, at.last_greatest);
    }
    return {least::first_best(numbers, first, last, at.first_least),
            greatest::last_best_of_few(numbers, first, last, at.last_greatest)};
}

} // namespace sennit::par::detail
