// SPDX-License-Identifier: Apache-2.0
// Work that takes a known time: steps of Marsaglia's xorshift (13, 7, 17). A step is six
// instructions, each of which waits for the one before it: 2 ns at 3 GHz. The ports in other
// languages have equal functions.
#pragma once

#include <cstdint>

namespace lab {

inline constexpr std::int64_t steps_per_microsecond = 500;

// The state after `steps` steps. It never becomes zero unless it begins as zero, which no compiler
// knows.
[[gnu::noinline]] inline std::uint64_t xorshift(std::uint64_t state, std::int64_t steps) {
    for (std::int64_t i = 0; i < steps; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

} // namespace lab
