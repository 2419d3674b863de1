// SPDX-License-Identifier: Apache-2.0
// Conversion of a snapshot to text.
#pragma once

#include "core/diagnostics/snapshot.hpp"

#include <string>

namespace sennit::obs {

std::string describe(const sched::runtime_report& report);

// Describes all runtimes. The caller holds the registry's lock.
std::string describe_all();

// Returns the report for a starved runtime: tasks are ready, no worker makes progress, and the
// watchdog may add no more threads. The report names the task of each worker, the ready tasks, and
// the remedies. The caller holds the registry's lock.
std::string describe_starvation(sched::runtime_core& of);

} // namespace sennit::obs
