// SPDX-License-Identifier: Apache-2.0
// Marks a step whose absence a scenario must notice: `if (!SENNIT_MUTANT("name")) step();`. The
// explorer's mutation check (tests/sim) omits each marked step in turn and expects a scenario to
// fail. In every other build it is a constant.
#pragma once

#ifdef SENNIT_SIMULATOR
namespace sennit::sim::hooks {
bool mutated(const char* named) noexcept;
}
#define SENNIT_MUTANT(name) (::sennit::sim::hooks::mutated(name))
#else
#define SENNIT_MUTANT(name) false
#endif
