// SPDX-License-Identifier: Apache-2.0
// par::partition: moves the elements that satisfy a predicate to the front, in parallel.
//
//     auto late = sennit::par::partition(orders, [](const order& o) { return !o.late; });
//
// It works in place and does not keep the order of the elements. Use `copy_if` twice where the
// order matters.
//
// Guarantees. The predicate is called once for each element, by several workers at the same time.
// The range is a permutation of its elements afterwards, also if the predicate throws.
//
// Exceptions and cancellation as for `par::for_each`. Cost: one worker runs the serial algorithm,
// without branches for trivially copyable elements of at most 16 bytes. A worker that joins in adds
// one exchange of at most half of the elements that it took. No allocation.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par {

namespace detail {

// The chunks of one worker grow a partitioned piece: [first, split) goes to the left, [split, last)
// does not.
struct partitioned_piece {
    std::size_t first;
    std::size_t split;
    std::size_t last;
};

template <class I, class GoesLeft>
struct partition_work {
    using value_type = partitioned_piece;
    static constexpr bool never_throws = false;

    I first;
    shared_callable<const GoesLeft> goes_left;

    void run(std::optional<partitioned_piece>& piece, std::size_t from, std::size_t to) const {
        if (!piece) piece.emplace(from, from, from);
        own_copy<const GoesLeft> goes = goes_left.call;
        std::size_t split = piece->split;
        if constexpr (cheap_to_exchange<I>) {
            auto* const all = std::to_address(first);
            for (; from != to; ++from) {
                const std::iter_value_t<I> moved = all[from];
                const bool left = goes(moved);
                all[from] = all[split];
                all[split] = moved;
                split += left;
            }
        } else {
            I at = advanced(first, from);
            for (; from != to; ++from, (void)++at) {
                if (!goes(*at)) continue;
                if (from != split) std::ranges::iter_swap(at, advanced(first, split));
                ++split;
            }
        }
        piece->split = split;
        piece->last = to;
    }
    // Exchanges the end of the low piece's right part and the left part of the high piece.
    partitioned_piece join(partitioned_piece low, partitioned_piece high) const {
        if (low.last != high.first) return low; // The loop was cancelled between both.
        const std::size_t right = low.last - low.split;
        const std::size_t left = high.split - high.first;
        const std::size_t moved = std::min(right, left);
        I one = advanced(first, low.split);
        I other = advanced(first, high.split - moved);
        for (std::size_t i = 0; i != moved; ++i, (void)++one, (void)++other)
            std::ranges::iter_swap(one, other);
        return {low.first, low.split + left, high.last};
    }
};

// Returns the number of elements that go to the left.
template <class I, class GoesLeft>
std::size_t partition_elements(const with& options, I first, std::size_t n,
                               const GoesLeft& goes_left) {
    const auto all = run_loop(partition_work<I, GoesLeft>{first, {goes_left}}, {}, n, options);
    return all ? all->split : 0;
}

// Calls `test` on a projected element.
template <class Test, class Proj>
struct projected_test {
    [[no_unique_address]] shared_callable<Test> test;
    [[no_unique_address]] shared_callable<Proj> proj;

    template <class T>
    [[gnu::always_inline]] bool operator()(T&& element) const {
        own_copy<Test> matches = test.call;
        own_copy<Proj> part = proj.call;
        return static_cast<bool>(std::invoke(matches, std::invoke(part, std::forward<T>(element))));
    }
};

struct partition_algorithm {
    template <class I, class Test, class Proj>
    static constexpr bool accepts = std::permutable<I> && !shares_words<I> && tests<Test, I, Proj>;

    template <class I, class Test, class Proj>
    static std::ranges::subrange<I> run(const with& options, I first, std::size_t n, Test& test,
                                        Proj& proj) {
        const projected_test<Test, Proj> goes_left{{test}, {proj}};
        const std::size_t left = partition_elements(options, first, n, goes_left);
        return {advanced(first, left), advanced(first, n)};
    }
};

} // namespace detail

// partition(range, pred, proj = {}), partition(first, last, pred, proj = {}), both with options in
// front. Blocks until the range is partitioned. Returns the elements that do not satisfy
// pred(proj(element)), as std::ranges::partition does. Throws the exception of the lowest chunk
// that throws, and `cancelled`.
inline constexpr detail::algorithm<detail::element_calls<detail::partition_algorithm>> partition{};

} // namespace sennit::par
