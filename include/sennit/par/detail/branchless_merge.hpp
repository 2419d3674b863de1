// SPDX-License-Identifier: Apache-2.0
// branchless_merge: the inner loop of merges of elements that are cheap to copy. Where the elements
// of both runs alternate at random, each branch that depends on them is mispredicted every second
// time, which takes longer than the merge itself.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par::detail {

// Long stretches of one run are recognised by blocks of this number of elements, with up to two
// further comparisons for each block.
inline constexpr std::size_t merge_block = 16;

// True if the runs are of similar lengths. Otherwise the next element belongs to the longer run
// most of the time, and a branch is predicted well.
inline bool alternates(std::size_t n1, std::size_t n2) noexcept {
    return n1 / 4 <= n2 && n2 / 4 <= n1;
}

// Takes `steps` elements of two sorted runs and advances `a`, `b` and `to`; both runs have at least
// so many. `second(x, y)` says whether y, an element of the second run, stands in front of x.
// `put(to, value)` writes. When `second` throws, `to` stands behind all elements that were taken.
template <class A, class B, class To, class Second, class Put>
[[gnu::always_inline]] inline void branchless_merge(A& a, B& b, To& to, std::size_t steps,
                                                    const Second& second, const Put& put) {
    using value = std::iter_value_t<A>;
    const auto copy_block = [&](auto& from) {
        for (std::size_t i = 0; i != merge_block; ++i, (void)++from, (void)++to) {
            const value copied = *from;
            put(to, copied);
        }
    };
    const auto alternate = [&](std::size_t count) {
        for (; count != 0; --count, (void)++to) {
            const value x = *a;
            const value y = *b;
            const bool takes_second = second(x, y);
            put(to, takes_second ? y : x);
            a += !takes_second;
            b += takes_second;
        }
    };
    for (; steps >= merge_block; steps -= merge_block) {
        if (!second(a[merge_block - 1], *b))
            copy_block(a);
        else if (second(*a, b[merge_block - 1]))
            copy_block(b);
        else
            alternate(merge_block);
    }
    alternate(steps);
}

} // namespace sennit::par::detail
