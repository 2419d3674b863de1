// SPDX-License-Identifier: Apache-2.0
// Runs a scenario many times and reports the result.
#pragma once

#include "sim.hpp"

namespace sennit::sim {

struct finding {
    std::uint64_t executions = 0;
    std::uint64_t longest = 0;    // steps of the longest execution
    double seconds = 0;           // wall-clock time
    double processor_seconds = 0; // processor time
    bool complete = false;        // all executions within the bounds were tried
    bool failed = false;
    std::string what;
    std::string replay; // argument of `replay_of` that repeats the failing execution
};

// Runs until the strategy is done, an execution fails, or about the given number of seconds has
// passed.
finding explore(const scenario& what, strategy& by, double max_seconds = 1e9);

// Encodes decisions as text: a run of equal decisions becomes a letter and a count.
std::string encode(const std::vector<std::uint8_t>& decisions);
std::vector<std::uint8_t> decode(const std::string& replay); // throws std::invalid_argument

// Repeats one execution with a trace.
outcome replay_of(const scenario& what, const std::string& replay, trace& into);

} // namespace sennit::sim
