// SPDX-License-Identifier: Apache-2.0
// The mutation check: is every memory order, and every re-check, needed by some scenario?
#pragma once

#include "explore.hpp"

#include <stdexcept>

namespace sennit::sim {

// For each place at which a scenario meets an order that is weaker than sequentially consistent
// (and not relaxed), each weaker order in turn; for each SENNIT_MUTANT in the sources, that one.
// Explores the scenarios that come by until one fails, those of the same name as the mutated file
// first. Prints a table; true when at least 95 % were noticed. A scenario counts only if the same
// runs pass without the mutant; else broken_scenario is thrown.
struct mutation_options {
    double seconds = 600; // for each mutant, at most
    bool all = false;     // sequentially consistent accesses, too
    unsigned share = 0;   // every `shares`-th mutant only, for several processes at once
    unsigned shares = 1;
    const mutant* base = nullptr; // stands for the program as it is, in a test; null: nothing
};
struct broken_scenario : std::runtime_error {
    using std::runtime_error::runtime_error;
};
bool check_mutants(const std::vector<const scenario*>& with, const mutation_options& how);

} // namespace sennit::sim
