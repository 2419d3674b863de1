// SPDX-License-Identifier: Apache-2.0
// A snapshot as text.
#pragma once

#include "core/diagnostics/snapshot.hpp"

#include <string>

namespace sennit::obs {

std::string describe(const sched::runtime_report& report);

// Of all runtimes, with the registry's lock held.
std::string describe_all();

// What is told when work is ready, no worker makes progress, and the watchdog may add no more
// threads: the piece of work that each worker is in, what waits, and what the program can do. With
// the registry's lock held.
std::string describe_starvation(sched::runtime_core& of);

} // namespace sennit::obs
