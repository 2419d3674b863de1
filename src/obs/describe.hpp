// SPDX-License-Identifier: Apache-2.0
// A snapshot as text.
#pragma once

#include "sched/snapshot.hpp"

#include <string>

namespace sennit::obs {

std::string describe(const sched::runtime_report& report);

// Of all runtimes, with the registry's lock held.
std::string describe_all();

} // namespace sennit::obs
