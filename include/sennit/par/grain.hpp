// SPDX-License-Identifier: Apache-2.0
// grain: the smallest number of elements that a parallel loop hands out or runs as one chunk.
//
// Leave it out in most loops: the loop then sizes its chunks by the time that the elements take.
// Give a grain where neighbouring elements share a set-up, or a cache line that both write. A grain
// is a lower bound: it makes no chunk shorter, and cheap elements still run in longer chunks.
#pragma once

#include <cstddef>

namespace sennit::par {

// Chunks begin at multiples of `elements`, counted from the first element of the loop. 0 means
// automatic.
struct grain {
    std::size_t elements = 0;
};

// Selects the form of a reduction whose result does not depend on how the work was divided.
struct deterministic_t {
    explicit constexpr deterministic_t() noexcept = default;
};
inline constexpr deterministic_t deterministic{};

} // namespace sennit::par
