// SPDX-License-Identifier: Apache-2.0
// par::radix_sort: sorts a range by an integer key, in parallel; stable.
//
//     sennit::par::radix_sort(numbers);
//     sennit::par::radix_sort(orders, &order::customer);
//
// Use it for integers, and for elements with an integer key: it needs O(n) time, where `par::sort`
// needs O(n log n). If keys differ in few bits only, it is a counting sort. Use `par::sort` for
// other keys and orders, and where memory is scarce. Keys are integers of up to 64 bits, in
// ascending order.
//
// Guarantees. Equal keys keep their order. The range is a permutation of its elements afterwards,
// also after an exception or a cancellation.
//
// Memory: room for all elements. For elements that are not trivially copyable, and for a projection
// that is neither a member pointer nor a `noexcept` callable without state, also two arrays of n
// keys with indices (8 to 16 bytes each); the projection is then called once for each element. If
// the memory is refused, it sorts as `par::stable_sort` does.
//
// Exceptions: those of the projection, before an element moves. Cancellation as for `par::sort`.
#pragma once

#include "sennit/par/detail/radix.hpp"
#include "sennit/par/detail/shifted_piece.hpp"
#include "sennit/par/sort.hpp"

namespace sennit::par {

namespace detail {

template <class I, class Proj>
using key_of = std::remove_cvref_t<projected_t<I, Proj>>;

template <class I, class Proj>
concept has_integer_key =
    std::permutable<I> && projects<Proj, I> && std::integral<key_of<I, Proj>> &&
    sizeof(key_of<I, Proj>) <= 8 && !shares_words<I>;

struct radix_sort_algorithm {
    template <class I, class Proj>
    static constexpr bool accepts = has_integer_key<I, Proj>;

    template <class I, class Proj>
    static I run(const with& options, I first, std::size_t n, Proj& proj) {
        std::ranges::less less;
        const I last = advanced(first, n);
        if (n < 2 || sorted_prefix(options, first, n, less, proj) == n) return last;
        bool sorted = false;
        if (n > shortest) {
            if constexpr (sorts_directly<I, Proj>)
                sorted = sort_directly(options, std::to_address(first), n, proj);
            else if constexpr (moves_to_room<I>)
                sorted = n <= std::numeric_limits<std::uint32_t>::max()
                             ? sort_indices<std::uint32_t>(options, first, n, proj)
                             : sort_indices<std::uint64_t>(options, first, n, proj);
        }
        if (!sorted) stable_sort_algorithm::run(options, first, n, less, proj);
        return last;
    }

private:
    // Shorter ranges are sorted by comparisons.
    static constexpr std::size_t shortest = 256;

    // True if the key of an element in any place is surely the key that was counted before.
    template <class I, class Proj>
    static constexpr bool sorts_directly =
        std::contiguous_iterator<I> && std::is_trivially_copyable_v<std::iter_value_t<I>> &&
        std::is_copy_assignable_v<std::iter_value_t<I>> && sizeof(std::iter_value_t<I>) <= 32 &&
        std::invocable<const Proj&, const std::iter_value_t<I>&> &&
        (std::same_as<Proj, std::identity> || std::is_member_object_pointer_v<Proj> ||
         (std::is_empty_v<Proj> &&
          std::is_nothrow_invocable_v<const Proj&, const std::iter_value_t<I>&>));

    // Returns false if the memory is refused.
    template <class T, class Proj>
    static bool sort_directly(const with& options, T* first, std::size_t n, const Proj& proj) {
        const sort_room<T> room(n);
        if (!room.get()) return false;
        const auto key = [proj](const T& element) noexcept {
            return unsigned_key(std::invoke(proj, element));
        };
        const unsigned bits =
            differing_bits(options, n, [&](std::size_t i) noexcept { return key(first[i]); });
        sort_by(options, first, room.get(), n, key, bits);
        return true;
    }
    template <class T, class Key>
    static void sort_by(const with& options, T* first, T* room, std::size_t n, const Key& key,
                        unsigned bits) {
        loop_control loop(options);
        run_sort([&] { radix_sorter<T, Key>(loop, key, first, room).run(n, bits); });
        loop.throw_if_cancelled();
    }

    template <class Index, class I, class Proj>
    static bool sort_indices(const with& options, I first, std::size_t n, Proj& proj) {
        using U = decltype(unsigned_key(std::declval<key_of<I, Proj>>()));
        struct record {
            U key;
            Index index;
        };
        const sort_room<record> records(n);
        const sort_room<record> more(n);
        const sort_room<std::iter_value_t<I>> room(n);
        if (!records.get() || !more.get() || !room.get()) return false;
        record* const all = records.get();
        run_chunks(options, n,
                   [all, first, proj = shared_callable{proj}](std::size_t from, std::size_t to) {
                       own_copy<Proj> part = proj.call;
                       for (I at = advanced(first, from); from != to; ++from, (void)++at)
                           std::construct_at(all + from,
                                             record{unsigned_key(std::invoke(part, *at)),
                                                    static_cast<Index>(from)});
                   });
        const unsigned bits =
            differing_bits(options, n, [all](std::size_t i) noexcept { return all[i].key; });
        sort_by(options, all, more.get(), n, [](const record& r) noexcept { return r.key; }, bits);
        // Moves the elements to the room in their new order, and back.
        loop_control loop(options);
        constexpr std::size_t slice = 16'384;
        auto* const to = room.get();
        run_sort([&] {
            for_slices(loop, n, slice, [&](std::size_t from, std::size_t end) noexcept {
                for (; from != end; ++from)
                    std::construct_at(to + from,
                                      std::ranges::iter_move(advanced(first, all[from].index)));
            });
            for_slices(loop, n, slice, [&](std::size_t from, std::size_t end) noexcept {
                std::ranges::move(to + from, to + end, advanced(first, from));
                std::destroy(to + from, to + end);
            });
        });
        return true;
    }
};

struct radix_sort_calls {
    template <std::random_access_iterator I, sized_end_of<I> S, class Proj = std::identity>
        requires(radix_sort_algorithm::accepts<I, Proj>)
    I operator()(const with& options, I first, S last, Proj proj = {}) const {
        return radix_sort_algorithm::run(options, first, distance_of(first, last), proj);
    }
    template <divisible_range R, class Proj = std::identity>
        requires(radix_sort_algorithm::accepts<std::ranges::iterator_t<R>, Proj>)
    auto operator()(const with& options, R&& range, Proj proj = {}) const {
        return borrowed<R>(
            radix_sort_algorithm::run(options, std::ranges::begin(range), size_of(range), proj));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, class Proj = std::identity>
        requires(radix_sort_algorithm::accepts<I, Proj>)
    I operator()(I first, S last, Proj proj = {}) const {
        return radix_sort_algorithm::run(automatic, first, distance_of(first, last), proj);
    }
    template <divisible_range R, class Proj = std::identity>
        requires(radix_sort_algorithm::accepts<std::ranges::iterator_t<R>, Proj>)
    auto operator()(R&& range, Proj proj = {}) const {
        return borrowed<R>(
            radix_sort_algorithm::run(automatic, std::ranges::begin(range), size_of(range), proj));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::radix_sort takes the options or nothing, a range or two "
                      "iterators of it, and a projection that returns an integer of at most 64 "
                      "bits; use par::sort for other keys");
    }
};

} // namespace detail

// radix_sort(range, proj = {}), radix_sort(first, last, proj = {}), both with options in front.
// Blocks until the range is sorted by its keys. Returns the end. Throws as the head of this file
// says.
inline constexpr detail::algorithm<detail::radix_sort_calls> radix_sort{};

} // namespace sennit::par
