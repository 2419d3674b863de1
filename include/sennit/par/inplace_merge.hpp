// SPDX-License-Identifier: Apache-2.0
// par::inplace_merge: merges two neighbouring sorted runs of a range, in parallel.
//
//     sennit::par::inplace_merge(keys, keys.begin() + old_size);
//
// The merge is stable. It needs room for all elements, or for the shorter run if one worker does
// the merge. If the memory is refused, or if a move of the elements may throw, it merges without
// room, in O(n log n).
//
// Guarantees and exceptions as for `par::stable_sort`. Cancellation: a merge that has not begun
// throws `cancelled`; a merge that has begun is completed.
//
// Cost: elements that are in place already are found by a search. One worker does the merge if the
// runtime has no other one, if the merge is short, or if a run has less than 1/8 of the elements.
// It moves the shorter run twice and the other elements once, as std::inplace_merge does. Several
// workers move each element twice, because a part of the result would otherwise overwrite elements
// that another part still reads.
#pragma once

#include "sennit/detail/core/wait.hpp"
#include "sennit/par/detail/branchless_merge.hpp"
#include "sennit/par/nth_element.hpp"

#include <iterator>

namespace sennit::par {

namespace detail {

// Merges the runs of n1 and n2 elements at `first` on this worker, with room for the shorter run.
// Whenever the comparison runs, the elements of the room fill the gap between `to` and the rest of
// the other run. So the range is a permutation again as soon as they have moved there.
template <class I, class Order>
class one_worker_merge {
public:
    using value = std::iter_value_t<I>;

    one_worker_merge(value* room, const Order& less) noexcept : room_(room), less_(less) {}

    void run(I first, std::size_t n1, std::size_t n2) {
        const I middle = advanced(first, n1);
        const auto less = [this](auto&& x, auto&& y) { return less_(y, x); };
        const auto greater = [this](auto&& x, auto&& y) { return less_(x, y); };
        if (n1 <= n2)
            merge(first, n1, middle, n2, less);
        else // from the back, where the second run is the first one
            merge(std::make_reverse_iterator(advanced(middle, n2)), n2,
                  std::make_reverse_iterator(middle), n1, greater);
    }

private:
    // The elements of the run in the room that are left. The destructor puts them into the gap.
    template <class To>
    struct rest_of_room {
        value* const begin;
        value* at;
        value* const end;
        To to;
        ~rest_of_room() {
            for (; at != end; ++at, (void)++to) *to = std::move(*at);
            std::destroy(begin, end);
        }
    };

    // Merges the run of n1 elements at `to` with the n2 elements at `b`. `second(x, y)` says
    // whether y of the second run stands in front of x.
    template <class To, class Second>
    void merge(To to, std::size_t n1, To b, std::size_t n2, const Second& second) {
        To from = to;
        for (std::size_t i = 0; i != n1; ++i, (void)++from)
            std::construct_at(room_ + i, std::ranges::iter_move(from));
        rest_of_room<To> rest{room_, room_, room_ + n1, to};
        const To b_end = advanced(b, n2);
        if constexpr (cheap_to_exchange<I>) {
            while (alternates(n1, n2) && rest.at != rest.end && b != b_end)
                branchless_merge(rest.at, b, rest.to,
                                 std::min(distance_of(rest.at, rest.end), distance_of(b, b_end)),
                                 second, [](const To& place, const value& x) { *place = x; });
        }
        while (rest.at != rest.end && b != b_end) {
            if (second(*rest.at, *b)) {
                *rest.to = std::ranges::iter_move(b);
                ++b;
            } else {
                *rest.to = std::move(*rest.at);
                ++rest.at;
            }
            ++rest.to;
        }
    }

    value* const room_;
    const Order& less_;
};

struct inplace_merge_algorithm {
    template <class I, class Less, class Proj>
    static constexpr bool accepts = sort_algorithm::accepts<I, Less, Proj>;

    template <class I, class Less, class Proj>
    static void run(const with& options, I first, std::size_t middle, std::size_t n, Less& less,
                    Proj& proj) {
        if (middle == 0 || middle >= n) return;
        const value_order<Less, Proj> order{{less}, {proj}};
        loop_control loop(options);
        if (loop.in_scope() && loop.dropped(0)) throw sennit::cancelled();
        on_pointers(first, n, [&](auto at) {
            // Only the elements between the place of the second run's first element in the first
            // run and the place of the first run's last element in the second run have to move.
            const auto second = advanced(at, middle);
            const std::size_t in_place =
                leading_count(at, middle, [&](auto&& x) { return !order(*second, x); });
            if (in_place == middle) return;
            const auto last = advanced(at, middle - 1);
            const std::size_t moving = leading_count(
                second, n - middle, [&](auto&& x) { return static_cast<bool>(order(x, *last)); });
            run_sort(
                [&] { merge(loop, advanced(at, in_place), middle - in_place, moving, order); });
        });
    }

private:
    // Below this number of elements, another worker comes too late.
    static constexpr std::size_t shared_above = 32'768;

    static bool shares(const loop_control& loop, std::size_t n1, std::size_t n2) noexcept {
        return n1 + n2 > shared_above && std::min(n1, n2) >= (n1 + n2) / 8 &&
               loop.options.max_workers != 1 && sched::others_run();
    }

    template <class I, class Order>
    static void merge(loop_control& loop, I first, std::size_t n1, std::size_t n2,
                      const Order& order) {
        using value = std::iter_value_t<I>;
        if constexpr (std::is_nothrow_move_constructible_v<value> &&
                      std::is_nothrow_move_assignable_v<value>) {
            if (shares(loop, n1, n2)) {
                const sort_room<value> room(n1 + n2);
                if (room.get())
                    return mergesort<I, Order>(loop, order, room.get()).merge_runs(first, n1, n2);
            }
            const sort_room<value> room(std::min(n1, n2));
            if (room.get()) return one_worker_merge<I, Order>(room.get(), order).run(first, n1, n2);
        }
        inplace_mergesort<I, Order>(loop, order).merge(first, n1, n2);
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
