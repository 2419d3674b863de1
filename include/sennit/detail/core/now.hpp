// SPDX-License-Identifier: Apache-2.0
// The scheduler's clock, for models that adapt to how long their pieces of work take.
#pragma once

#include <cstdint>

namespace sennit::sched {

// Nanoseconds since some fixed point; never goes back. About 20 ns a call.
std::int64_t now_ns() noexcept;

} // namespace sennit::sched
