// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sennit::sys {

// Nanoseconds of CLOCK_MONOTONIC. About 20 ns per call.
std::int64_t now_ns() noexcept;

// Nanoseconds of CLOCK_MONOTONIC at the last system tick, some milliseconds behind. About 5 ns per
// call.
std::int64_t coarse_now_ns() noexcept;

} // namespace sennit::sys
