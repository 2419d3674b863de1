// SPDX-License-Identifier: Apache-2.0
// A random number for choices that only have to be fair.
#pragma once

#include <cstdint>

namespace sennit::sched {

// Returns a number from 0 to n-1; n > 0. A worker uses its own generator; another thread uses the
// clock.
std::uint32_t random_below(std::uint32_t n) noexcept;

} // namespace sennit::sched
