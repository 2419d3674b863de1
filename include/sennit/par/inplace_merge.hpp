// SPDX-License-Identifier: Apache-2.0
// par::inplace_merge: merges two neighbouring sorted runs of a range, in parallel.
//
//     sennit::par::inplace_merge(keys, keys.begin() + old_size);
//
// The merge is stable. It needs room for all elements. If the memory is refused, or if a move of
// the elements may throw, it merges without room, in O(n log n).
//
// Guarantees and exceptions as for `par::stable_sort`. Cancellation: a merge that has not begun
// throws `cancelled`; a merge that has begun is completed. Cost: each element moves twice.
#pragma once

#include "sennit/par/nth_element.hpp"

namespace sennit::par {

namespace detail {

struct inplace_merge_algorithm {
    template <class I, class Less, class Proj>
    static constexpr bool accepts = sort_algorithm::accepts<I, Less, Proj>;

    template <class I, class Less, class Proj>
    static void run(const with& options, I first, std::size_t middle, std::size_t n, Less& less,
                    Proj& proj) {
        using value = std::iter_value_t<I>;
        if (middle == 0 || middle >= n) return;
        const value_order<Less, Proj> order{{less}, {proj}};
        if constexpr (std::is_nothrow_move_constructible_v<value> &&
                      std::is_nothrow_move_assignable_v<value>) {
            const sort_room<value> room(n);
            if (room.get()) {
                loop_control loop(options);
                if (loop.in_scope() && loop.dropped(0)) throw sennit::cancelled();
                on_pointers(first, n, [&]<class At>(At at) {
                    mergesort<At, value_order<Less, Proj>> sorter(loop, order, room.get());
                    run_sort([&] { sorter.merge_runs(at, middle, n - middle); });
                });
                return;
            }
        }
        loop_control loop(options);
        if (loop.in_scope() && loop.dropped(0)) throw sennit::cancelled();
        on_pointers(first, n, [&]<class At>(At at) {
            inplace_mergesort<At, value_order<Less, Proj>> sorter(loop, order);
            run_sort([&] { sorter.merge(at, middle, n - middle); });
        });
    }
};

} // namespace detail

// inplace_merge(range, middle, comp = less, proj = {}), inplace_merge(first, middle, last, …), both
// with options in front. [first, middle) and [middle, last) must be sorted. Blocks until the range
// is sorted. Returns the end. Throws as the head of this file says.
inline constexpr detail::algorithm<
    detail::place_calls<detail::inplace_merge_algorithm, std::ranges::less>>
    inplace_merge{};

} // namespace sennit::par
