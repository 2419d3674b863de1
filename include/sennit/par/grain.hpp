// SPDX-License-Identifier: Apache-2.0
// grain: the smallest number of elements that a parallel loop hands out or runs as one piece.
//
// Leave it out in most loops: pieces then adapt to how long the elements take. Give one where neighbouring elements
// share something that is costly to set up or to share, such as a cache line that both write.
#pragma once

#include <cstddef>

namespace sennit::par {

// Pieces begin at multiples of `elements`, counted from the first element of the loop. 0 means automatic.
struct grain {
    std::size_t elements = 0;
};

// Selects the form of a reduction whose result does not depend on how the work was divided.
struct deterministic_t {
    explicit constexpr deterministic_t() noexcept = default;
};
inline constexpr deterministic_t deterministic{};

} // namespace sennit::par
