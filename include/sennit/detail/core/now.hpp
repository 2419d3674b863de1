// SPDX-License-Identifier: Apache-2.0
// The scheduler's clock, for models that adapt to the duration of their tasks.
#pragma once

#include "sennit/detail/sys/ticks.hpp"

#include <cstdint>

namespace sennit::sched {

// Nanoseconds since some fixed point. The clock never runs backwards. About 20 ns per call.
std::int64_t now_ns() noexcept;

using sys::ticks;
using sys::ticks_per_us;

} // namespace sennit::sched
