// SPDX-License-Identifier: Apache-2.0
// radix_sorter: sorts trivially copyable elements by an unsigned key, stable, in parallel.
//
// Elements are distributed by the highest bits in which keys differ, from the range into a room or
// back, until a bucket fits into the cache (detail/distribution.hpp). A bucket that fits is sorted
// from its lowest byte to its highest one. So a sort of 10^8 numbers reads and writes the memory
// about three times. A cancelled sort copies each bucket that it has not begun back to the range,
// which is a permutation of its elements then.
#pragma once

#include "sennit/par/detail/distribution.hpp"
#include "sennit/par/detail/quicksort.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace sennit::par::detail {

// The order of keys as an order of unsigned numbers.
template <class K>
constexpr auto unsigned_key(K key) noexcept {
    if constexpr (std::same_as<K, bool>) {
        return static_cast<unsigned char>(key);
    } else {
        using U = std::make_unsigned_t<K>;
        constexpr U sign = std::is_signed_v<K> ? static_cast<U>(U{1} << (8 * sizeof(U) - 1)) : U{0};
        return static_cast<U>(static_cast<U>(key) ^ sign);
    }
}

// `Key` returns the unsigned key of an element, never throws, and always returns the key again.
template <class T, class Key>
class radix_sorter {
public:
    using unsigned_type = std::invoke_result_t<const Key&, const T&>;

    radix_sorter(loop_control& loop, const Key& key, T* range, T* room) noexcept
        : loop_(loop), key_(key), range_(range), room_(room) {}

    // Sorts n elements whose keys differ in the lowest `bits` bits only.
    void run(std::size_t n, unsigned bits) noexcept { sort(0, n, bits, true); }

private:
    static constexpr std::size_t few = 32;
    // Both halves of a bucket, in the range and in the room, fit into an L2 cache of 512 KiB.
    static constexpr std::size_t bytes_in_cache = 262'144;
    static constexpr unsigned most_digit_bits = 10;

    // Sorts the elements at `from`, which are in the range or in the room, into the range.
    void sort(std::size_t from, std::size_t n, unsigned bits, bool in_range) noexcept {
        T* const here = (in_range ? range_ : room_) + from;
        T* const there = (in_range ? room_ : range_) + from;
        if (n <= few || bits == 0) {
            if (!in_range) std::copy_n(here, n, there);
            if (bits != 0) insertion_sort(range_ + from, n, by_key());
            return;
        }
        const std::size_t caches = n * sizeof(T) / bytes_in_cache;
        if (caches == 0) return sort_in_cache(here, there, n, bits, in_range);
        if (loop_.in_scope() && loop_.dropped(0)) {
            if (!in_range) std::copy_n(here, n, there);
            return;
        }
        unsigned wanted = static_cast<unsigned>(std::bit_width(caches));
        if (wanted > most_digit_bits) wanted = std::min(most_digit_bits, (wanted + 1) / 2);
        const unsigned digit = std::min(bits, wanted);
        distribution buckets(n, std::size_t{1} << digit);
        if (buckets.refused()) return sort_in_cache(here, there, n, bits, in_range);
        const unsigned shift = bits - digit;
        const auto mask = static_cast<unsigned_type>((std::uint64_t{1} << digit) - 1);
        const auto bucket_of = [key = key_, here, shift, mask](std::size_t i) noexcept {
            return static_cast<std::size_t>(static_cast<unsigned_type>(key(here[i]) >> shift) &
                                            mask);
        };
        buckets.count(loop_, bucket_of);
        buckets.scatter(loop_, bucket_of, [here, there](std::size_t i, std::size_t place) noexcept {
            there[place] = here[i];
        });
        for_parts(loop_, 0, std::size_t{1} << digit, [&, this](std::size_t bucket) noexcept {
            const std::size_t begin = buckets.begin(bucket);
            sort(from + begin, buckets.end(bucket) - begin, shift, !in_range);
        });
    }

    auto by_key() const noexcept {
        return [key = key_](const T& a, const T& b) noexcept { return key(a) < key(b); };
    }

    void sort_in_cache(T* here, T* there, std::size_t n, unsigned bits, bool in_range) noexcept {
        const Key key = key_;
        const unsigned digits = (bits + 7) / 8;
        std::array<std::array<std::size_t, 256>, sizeof(unsigned_type)> counts;
        for (unsigned d = 0; d != digits; ++d) counts[d].fill(0);
        for (std::size_t i = 0; i != n; ++i) {
            unsigned_type rest = key(here[i]);
            for (unsigned d = 0; d != digits; ++d) {
                ++counts[d][rest & 255u];
                if constexpr (sizeof(unsigned_type) > 1)
                    rest = static_cast<unsigned_type>(rest >> 8);
            }
        }
        for (unsigned d = 0; d != digits; ++d) {
            const auto digit_of = [&key, d](const T& element) noexcept {
                return static_cast<std::size_t>(key(element) >> (8 * d)) & 255u;
            };
            auto& places = counts[d];
            if (places[digit_of(here[0])] == n) continue;
            std::size_t sum = 0;
            for (std::size_t& place : places) sum += std::exchange(place, sum);
            for (std::size_t i = 0; i != n; ++i) there[places[digit_of(here[i])]++] = here[i];
            std::swap(here, there);
            in_range = !in_range;
        }
        if (!in_range) std::copy_n(here, n, there);
    }

    loop_control& loop_;
    const Key key_;
    T* const range_;
    T* const room_;
};

// Returns the number of the lowest bits in which the keys of n elements differ.
template <class KeyAt>
unsigned differing_bits(const with& options, std::size_t n, const KeyAt& key_at) {
    using U = std::invoke_result_t<const KeyAt&, std::size_t>;
    struct bits {
        U any;
        U all;
    };
    const auto sum = run_values<bits>(
        options, n,
        [&key_at](std::size_t from, std::size_t to) noexcept {
            bits mine{key_at(from), key_at(from)};
            for (; from != to; ++from) {
                const U key = key_at(from);
                mine.any = static_cast<U>(mine.any | key);
                mine.all = static_cast<U>(mine.all & key);
            }
            return mine;
        },
        [](bits a, bits b) noexcept {
            return bits{static_cast<U>(a.any | b.any), static_cast<U>(a.all & b.all)};
        });
    return sum ? static_cast<unsigned>(std::bit_width(static_cast<U>(sum->any ^ sum->all))) : 0;
}

} // namespace sennit::par::detail
