// SPDX-License-Identifier: Apache-2.0
// branchless_merge: the inner loop of merges of elements that are cheap to copy. Where the elements
// of both runs alternate at random, each branch that depends on them is mispredicted every second
// time, which takes longer than the merge itself. Where several elements of one run follow each
// other, branches take a quarter of the time. So each block of elements decides by the number of
// changes from one run to the other in the block before it.
#pragma once

#include "sennit/par/detail/call_forms.hpp"

namespace sennit::par::detail {

// Long stretches of one run are recognised by blocks of this number of elements, with up to two
// further comparisons for each block.
inline constexpr std::size_t merge_block = 16;

// True if branches are faster for the next block of a merge: the block before it had so few changes
// between the runs in its steps, or so many, that the processor predicts them.
inline bool is_predicted(std::size_t changes, std::size_t steps) noexcept {
    return changes <= steps / 4 || changes >= steps - steps / 8;
}

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
    // Both take `count` elements and return the number of changes between the runs, about.
    const auto alternate = [&](std::size_t count) {
        std::size_t changes = 0;
        bool took_second = false;
        for (; count != 0; --count, (void)++to) {
            const value x = *a;
            const value y = *b;
            const bool takes_second = second(x, y);
            put(to, takes_second ? y : x);
            a += !takes_second;
            b += takes_second;
            changes += takes_second != took_second;
            took_second = takes_second;
        }
        return changes;
    };
    const auto take_by_branches = [&](std::size_t count) {
        std::size_t changes = 0;
        const auto take = [&](auto& from) {
            const value copied = *from;
            put(to, copied);
            ++from;
            ++to;
            --count;
        };
        // Each comparison is followed by a step: one that lies must not stop the merge.
        for (bool takes_second = second(*a, *b);; ++changes) {
            if (takes_second) {
                do take(b);
                while (count != 0 && (takes_second = second(*a, *b)));
            } else {
                do take(a);
                while (count != 0 && !(takes_second = second(*a, *b)));
            }
            if (count == 0) return changes;
        }
    };
    std::size_t changes = merge_block / 2;
    for (; steps >= merge_block; steps -= merge_block) {
        if (!second(a[merge_block - 1], *b))
            copy_block(a);
        else if (second(*a, b[merge_block - 1]))
            copy_block(b);
        else
            changes = is_predicted(changes, merge_block) ? take_by_branches(merge_block)
                                                         : alternate(merge_block);
    }
    alternate(steps);
}

} // namespace sennit::par::detail
