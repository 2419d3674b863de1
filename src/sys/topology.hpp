// SPDX-License-Identifier: Apache-2.0
// The number of processors that this process may use.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sennit::sys {

// The smaller of the affinity mask and the control group's quota, rounded up; at least 1. See
// cgroup_cpu_quota for `root`.
unsigned usable_cpus(const std::string& root = "");

// Processors of the calling thread's affinity mask, ascending; empty if the system does not tell.
std::vector<unsigned> affinity_cpus();

// Processors of a NUMA node, ascending. Nothing if the system knows no such node. See
// cgroup_cpu_quota for `root`.
std::optional<std::vector<unsigned>> node_cpus(unsigned node, const std::string& root = "");

// The tightest limit, in processors, that the process's control group or one of its ancestors sets:
// version 2 (cpu.max) and version 1 (cpu.cfs_quota_us). Nothing if there is no limit or the files
// are malformed. `root` is put before every path that is read, for tests.
std::optional<double> cgroup_cpu_quota(const std::string& root = "");

} // namespace sennit::sys
