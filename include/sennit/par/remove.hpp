// SPDX-License-Identifier: Apache-2.0
// par::remove, par::remove_if, par::unique: move the elements that stay to the front of the range,
// in their order, in parallel and in place.
//
//     auto [rest, end] = sennit::par::remove_if(orders, is_late);
//     orders.erase(rest, end);
//
// Guarantees. The predicate is called once for each element, by several workers at the same time.
// The elements behind the result have unspecified values, as in std::ranges.
//
// Exceptions and cancellation as for `par::for_each`; the values of all elements are unspecified
// then. Cost: one worker runs the serial algorithm. A worker that joins in moves the elements that
// it has kept once more. No allocation.
#pragma once

#include "sennit/par/detail/quicksort.hpp"
#include "sennit/par/partition.hpp"

namespace sennit::par {

namespace detail {

// The chunks of one worker grow a piece whose kept elements are [first, kept).
struct compacted_piece {
    std::size_t first;
    std::size_t kept;
    std::size_t last;
};

template <class I>
void move_elements(const I& first, std::size_t from, std::size_t to, std::size_t target) {
    if (from != target)
        std::ranges::move(advanced(first, from), advanced(first, to), advanced(first, target));
}

template <class I, class Test>
struct remove_work {
    using value_type = compacted_piece;
    static constexpr bool never_throws = false;

    I first;
    shared_callable<const Test> removes;

    void run(std::optional<compacted_piece>& piece, std::size_t from, std::size_t to) const {
        if (!piece) piece.emplace(from, from, from);
        own_copy<const Test> drops = removes.call;
        if (piece->kept == from) { // Nothing is removed so far, so nothing moves.
            const I at = advanced(first, from);
            const I found = std::ranges::find_if(at, advanced(first, to), std::ref(drops));
            piece->kept = from += static_cast<std::size_t>(found - at);
            if (from != to) ++from; // It is removed.
        }
        I at = advanced(first, from);
        I end = advanced(first, piece->kept);
        const I begin = end;
        for (; from != to; ++from, (void)++at) {
            if (drops(*at)) continue;
            *end = std::ranges::iter_move(at);
            ++end;
        }
        piece->kept += static_cast<std::size_t>(end - begin);
        piece->last = to;
    }
    compacted_piece join(compacted_piece low, compacted_piece high) const {
        if (low.last != high.first) return low; // The loop was cancelled between both.
        move_elements(first, high.first, high.kept, low.kept);
        return {low.first, low.kept + (high.kept - high.first), high.last};
    }
};

// `Equal` compares two elements, projected.
template <class I, class Equal>
struct unique_work {
    using value_type = compacted_piece;
    static constexpr bool never_throws = false;

    I first;
    Equal equal;

    void run(std::optional<compacted_piece>& piece, std::size_t from, std::size_t to) const {
        if (!piece) { // The join compares the first element with the one in front of it.
            piece.emplace(from, from + 1, from);
            ++from;
        }
        if (piece->kept == from) { // Nothing is removed so far, so nothing moves.
            const I before = advanced(first, from - 1);
            const I end = advanced(first, to);
            const I found = std::ranges::adjacent_find(before, end, std::ref(equal));
            piece->kept = from =
                found == end ? to : from + static_cast<std::size_t>(found - before);
            if (from != to) ++from; // It repeats the element in front of it.
        }
        I at = advanced(first, from);
        I last_kept = advanced(first, piece->kept - 1);
        const I begin = last_kept;
        for (; from != to; ++from, (void)++at) {
            if (equal(*last_kept, *at)) continue;
            *++last_kept = std::ranges::iter_move(at);
        }
        piece->kept += static_cast<std::size_t>(last_kept - begin);
        piece->last = to;
    }
    compacted_piece join(compacted_piece low, compacted_piece high) const {
        if (low.last != high.first) return low; // The loop was cancelled between both.
        const bool repeats = equal(*advanced(first, low.kept - 1), *advanced(first, high.first));
        const std::size_t from = high.first + (repeats ? 1 : 0);
        move_elements(first, from, high.kept, low.kept);
        return {low.first, low.kept + (high.kept - from), high.last};
    }
};

template <class I, class Work>
std::ranges::subrange<I> compact(const with& options, I first, std::size_t n, const Work& work) {
    const auto all = run_loop(work, {}, n, options);
    return {advanced(first, all ? all->kept : 0), advanced(first, n)};
}

struct remove_if_algorithm {
    template <class I, class Test, class Proj>
    static constexpr bool accepts = std::permutable<I> && !shares_words<I> && tests<Test, I, Proj>;

    template <class I, class Test, class Proj>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n, Test& test,
                                        Proj& proj) {
        using removes = projected_test<Test, Proj>;
        const removes all{{test}, {proj}};
        return compact(options, first, n, remove_work<I, removes>{first, {all}});
    }
};

struct remove_algorithm {
    template <class I, class T, class Proj>
    static constexpr bool accepts =
        std::permutable<I> && !shares_words<I> && equals_elements<T, I, Proj>;

    template <class I, class T, class Proj>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n, T& value,
                                        Proj& proj) {
        const auto equals = equality_with(std::as_const(value));
        return remove_if_algorithm::run(options, first, n, equals, proj);
    }
};

struct unique_algorithm {
    template <class I, class Equal, class Proj>
    static constexpr bool accepts =
        std::permutable<I> && !shares_words<I> && compares<Equal, I, I, Proj, Proj>;

    template <class I, class Equal, class Proj>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n, Equal& equal,
                                        Proj& proj) {
        using compare = value_order<Equal, Proj>;
        return compact(options, first, n, unique_work<I, compare>{first, compare{{equal}, {proj}}});
    }
};

} // namespace detail

// remove_if(range, pred, proj = {}), remove_if(first, last, pred, proj = {}), both with options in
// front. Blocks until the elements that stay are in front. Returns the elements behind them, as
// std::ranges::remove_if does. Throws the exception of the lowest chunk that throws, and
// `cancelled`.
inline constexpr detail::algorithm<detail::element_calls<detail::remove_if_algorithm>> remove_if{};

// Like remove_if, for elements with proj(element) == value. `value` must not be an element of the
// range.
inline constexpr detail::algorithm<detail::element_calls<detail::remove_algorithm>> remove{};

// unique(range, comp = equal_to, proj = {}), and forms as for remove_if: keeps the first element of
// each group of neighbours that are equal. `comp` must be an equivalence relation.
inline constexpr detail::algorithm<
    detail::order_calls<detail::unique_algorithm, std::ranges::equal_to>>
    unique{};

} // namespace sennit::par
