// SPDX-License-Identifier: Apache-2.0
// The engine's numbers, each with its reason; and smaller ones for builds that provoke (SENNIT_STRESS) or explore
// (SENNIT_SIMULATOR) rare interleavings.
#pragma once

#include <cstdint>

namespace sennit::sched::tuning {

#ifdef SENNIT_SIMULATOR
inline constexpr bool simulated = true;
#else
inline constexpr bool simulated = false;
#endif
#ifdef SENNIT_STRESS
inline constexpr bool stressed = true;
#else
inline constexpr bool stressed = simulated;
#endif

// A futex sleep and wake costs 5-50 us; looking about that long never costs more than twice the best choice.
inline constexpr std::int64_t spin_ns = 50'000;

// A fork that is published on request comes within a microsecond; who has not answered by now sits in a long leaf.
inline constexpr std::int64_t force_after_ns = stressed ? 0 : 20'000;

// Between two looks for work: about a microsecond.
inline constexpr unsigned pauses_per_look = simulated ? 1 : 32;

// What a stolen child usually still needs when its parent comes to the join is either next to nothing or long.
inline constexpr unsigned looks_before_waiting = simulated ? 1 : 100;

// Picks between two looks at the shared queue first: as in Go's scheduler, often enough not to starve, prime against
// rhythms.
inline constexpr unsigned fair_period = simulated ? 3 : 61;

// Idle contexts kept by a worker: their stacks are warm.
inline constexpr unsigned max_spares = simulated ? 1 : 16;

} // namespace sennit::sched::tuning
