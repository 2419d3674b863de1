// SPDX-License-Identifier: Apache-2.0
// The distance that keeps two words from sharing a cache line, also under the adjacent-line
// prefetcher.
#pragma once

#include <cstddef>

namespace sennit::base {

inline constexpr std::size_t cache_line = 64;            // bytes that move together
inline constexpr std::size_t destructive_distance = 128; // bytes: x86 prefetches lines in pairs

} // namespace sennit::base
