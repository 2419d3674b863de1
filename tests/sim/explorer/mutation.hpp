// SPDX-License-Identifier: Apache-2.0
// The mutation check: is every memory order, and every re-check, needed by some scenario?
#pragma once

#include "explore.hpp"

namespace sennit::sim {

// For each place at which a scenario meets an order that is weaker than sequentially consistent (and not relaxed), each
// weaker order in turn; for each SENNIT_MUTANT in the sources, that one. Explores the scenarios that come by until one
// fails. Prints a table; true when at least 95 % were noticed. `seconds` bounds the search
// for each mutant.
bool check_mutants(const std::vector<const scenario*>& with, double seconds, bool all);

} // namespace sennit::sim
