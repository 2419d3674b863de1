// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sennit::sys {

// Nanoseconds of CLOCK_MONOTONIC. About 20 ns a call.
std::int64_t now_ns() noexcept;

// The same as of the last tick of the system, some milliseconds behind. About 5 ns a call.
std::int64_t coarse_now_ns() noexcept;

} // namespace sennit::sys
