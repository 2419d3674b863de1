// SPDX-License-Identifier: Apache-2.0
// Runs a scenario many times and says what was found.
#pragma once

#include "sim.hpp"

namespace sennit::sim {

struct finding {
    std::uint64_t executions = 0;
    std::uint64_t longest = 0;    // steps of the longest execution
    double seconds = 0;           // by the clock
    double processor_seconds = 0; // used
    bool complete = false;        // everything within the bounds was tried
    bool failed = false;
    std::string what;
    std::string replay; // gives `replay_of` the failing execution
};

// Until the strategy is done, an execution fails, or about so many seconds have passed.
finding explore(const scenario& what, strategy& by, double most_seconds = 1e9);

// The decisions as text: runs of equal ones as a letter and their number.
std::string encode(const std::vector<std::uint8_t>& decisions);
std::vector<std::uint8_t> decode(const std::string& replay); // throws std::invalid_argument

// Repeats one execution with a trace.
outcome replay_of(const scenario& what, const std::string& replay, trace& into);

} // namespace sennit::sim
