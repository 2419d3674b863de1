// SPDX-License-Identifier: Apache-2.0
// Marks a step whose absence must be noticed: `if (!SENNIT_MUTANT("name")) step();`. The explorer's
// mutation check (tests/sim) leaves each marked step out in turn and expects a scenario to fail.
// Everywhere else it is a constant.
#pragma once

#ifdef SENNIT_SIMULATOR
namespace sennit::sim::hooks {
bool mutated(const char* named) noexcept;
}
#define SENNIT_MUTANT(name) (::sennit::sim::hooks::mutated(name))
#else
#define SENNIT_MUTANT(name) false
#endif
