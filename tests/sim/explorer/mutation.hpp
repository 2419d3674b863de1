// SPDX-License-Identifier: Apache-2.0
// The mutation check: whether some scenario needs each memory order and each re-check.
#pragma once

#include "explore.hpp"

#include <stdexcept>

namespace sennit::sim {

// The mutants are all weaker orders, one at a time, for each place at which a scenario meets an
// order that is weaker than sequentially consistent and not relaxed; and each SENNIT_MUTANT in the
// sources. For each mutant, the check explores the scenarios that pass its place until one fails,
// beginning with those that have the name of the mutated file. Prints a table. True if the
// scenarios noticed at least 95 % of the mutants. A scenario counts only if the same runs pass
// without the mutant; otherwise broken_scenario is thrown.
struct mutation_options {
    double seconds = 600; // at most, for each mutant
    bool all = false;     // also mutates sequentially consistent accesses
    unsigned share = 0;   // every `shares`-th mutant only, for several processes at once
    unsigned shares = 1;
    // In a test, this mutant stands for the unchanged program; null: no mutant.
    const mutant* base = nullptr;
};
struct broken_scenario : std::runtime_error {
    using std::runtime_error::runtime_error;
};
bool check_mutants(const std::vector<const scenario*>& with, const mutation_options& how);

} // namespace sennit::sim
