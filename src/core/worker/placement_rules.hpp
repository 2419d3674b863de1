// SPDX-License-Identifier: Apache-2.0
// The settings of a runtime that a worker reads all the time. Set before the worker's thread
// starts, and constant from then on.
#pragma once

#include "core/idle/idle_map.hpp"

#include <cstdint>

namespace sennit::sched {

struct placement_rules {
    // Not the affinity of any runnable: there are fewer workers.
    static constexpr std::uint16_t no_affinity = UINT16_MAX;

    // The affinity of the runnables that go through the own queue: none (0) under `stealing`, this
    // worker under `round_robin`, and `no_affinity` under `sharing`.
    std::uint16_t local_affinity = 0;
    // Equals `local_affinity`, or `no_affinity` while tracing is on. The fast paths, which record
    // no trace events, are then not taken.
    std::uint16_t fast_path_affinity = 0;
    // True if the workers of this runtime take work from each other.
    bool steals = true;
    // True if suspending needs no bookkeeping: the policy lets contexts migrate and tracing is off.
    bool fast_suspend = true;
    // True if the workers may gather tasks that communicate: see consolidation.hpp.
    bool consolidates = false;
    unsigned workers = 0;         // Includes spare workers.
    idle_map* sleepers = nullptr; // The runtime's idle map.
};

} // namespace sennit::sched
