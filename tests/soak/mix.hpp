// SPDX-License-Identifier: Apache-2.0
// The programs of the soak: small programs over every primitive, each with random sizes and an
// answer that can be checked.
#pragma once

#include "random_test.hpp"

#include <sennit/runtime.hpp>

#include <span>
#include <vector>

namespace soak {

using ::dice;

// A program runs on a worker of a runtime and leaves nothing behind. It returns true if the answer
// was right.
struct program {
    const char* name;
    bool (*run)(dice& with);
};

// All programs of the functions below.
std::vector<program> programs();

std::span<const program> basic_programs();  // mix.cpp: each primitive
std::span<const program> limits_programs(); // mix_limits.cpp: limits of locks and signals
std::span<const program>
limits_family_programs(); // mix_limits_family.cpp: of futures, nurseries and fibers
std::span<const program>
limits_channel_programs(); // mix_limits_channels.cpp: of channels, select and waituntil
std::span<const program>
limits_end_programs(); // mix_limits_ends.cpp: objects that end as early as they may
std::span<const program> families_programs();   // mix_families.cpp: families with a limit
std::span<const program> actors_programs();     // mix_actors.cpp
std::span<const program> monitors_programs();   // mix_monitors.cpp
std::span<const program> acceptance_programs(); // mix_acceptance.cpp: waitfor, active objects
std::span<const program> coroutines_programs(); // mix_coroutines.cpp
std::span<const program> generators_programs(); // mix_generators.cpp
std::span<const program> graphs_programs();     // mix_graphs.cpp
std::span<const program>
runtimes_programs(); // mix_runtimes.cpp: runtimes that change while they work
std::span<const program> liveness_programs(); // mix_liveness.cpp: fibers that keep their threads

// The number of workers that the command line asks for, or a random number up to `most`.
unsigned workers_for_runtime(dice& with, unsigned most);

} // namespace soak
