// SPDX-License-Identifier: Apache-2.0
// with, grain, deterministic: the options of a parallel algorithm, always its first argument.
//
//     sennit::par::for_each(sennit::par::grain{64}, rows, solve);
//     sennit::par::for_each(sennit::par::with{.max_grain = 8, .max_workers = 4}, rows, solve);
//     sennit::par::for_each({.max_workers = 4}, rows, solve);
//     double sum = sennit::par::reduce(sennit::par::deterministic, x, 0.0);
//
// Leave the options out in most loops: the loop then sizes its chunks by the time that the elements
// take, and every free worker may join it.
#pragma once

#include <cstddef>
#include <limits>

namespace sennit::par {

struct with {
    // Chunks begin at multiples of this number of elements, counted from the first element of the
    // loop. Give it where neighbouring elements share a set-up, or a cache line that both write. It
    // is a lower bound: cheap elements still run in longer chunks. 0 counts as 1.
    std::size_t min_grain = 0;

    // No chunk has more elements. Give it where elements may suddenly become far more expensive
    // than the elements before them. A value below `min_grain` counts as `min_grain`.
    std::size_t max_grain = std::numeric_limits<std::size_t>::max();

    // At most this number of workers run the algorithm at the same time, the caller included. 0
    // means all workers. With 1, the algorithm is the serial one. A worker that waits for a thief
    // does not count.
    unsigned max_workers = 0;

    // The result depends on the elements and on `min_grain` only: not on the number of workers, nor
    // on the division of the work. Reductions then group their values by a fixed tree. The other
    // algorithms are deterministic in any case, except for find_any and find_any_if.
    bool deterministic = false;
};

// A short form of with{.min_grain = elements}.
struct grain {
    std::size_t elements = 0;
    constexpr operator with() const noexcept { return {.min_grain = elements}; }
};

// A short form of with{.deterministic = true}.
inline constexpr with deterministic{.deterministic = true};

namespace detail {
inline constexpr with automatic{};
} // namespace detail

} // namespace sennit::par
