// SPDX-License-Identifier: Apache-2.0
#include "sys/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <sstream>

namespace sennit::sys {

namespace {

void tighten(std::optional<double>& limit, std::optional<double> candidate) {
    if (candidate && *candidate > 0 && (!limit || *candidate < *limit)) limit = candidate;
}

std::optional<double> ratio(double quota, double period) {
    if (!(quota > 0) || !(period > 0)) return std::nullopt;
    return quota / period;
}

// cpu.max: "max 100000" or "50000 100000".
std::optional<double> read_v2(const std::string& folder) {
    std::ifstream file(folder + "/cpu.max");
    std::string quota;
    double period = 0;
    if (!(file >> quota >> period) || quota == "max") return std::nullopt;
    std::istringstream number(quota);
    double value = 0;
    if (!(number >> value)) return std::nullopt;
    return ratio(value, period);
}

std::optional<double> read_v1(const std::string& folder) {
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
    std::ifstream period_file(folder + "/cpu.cfs_period_us");
    double quota = 0;
    double period = 0;
    if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
    return ratio(quota, period);
}

bool has_item(const std::string& list, const std::string& item) {
    std::istringstream items(list);
    for (std::string one; std::getline(items, one, ',');)
        if (one == item) return true;
    return false;
}

struct mount {
    std::string point;
    std::string group_root; // the group that is visible at the mount point
};

// A line of mountinfo: "36 35 98:0 /root /point options… - type source super-options".
std::optional<mount> find_mount(const std::string& root, const std::string& type, const std::string& controller) {
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        const auto dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        std::istringstream left(line.substr(0, dash));
        std::istringstream right(line.substr(dash + 3));
        std::string id, parent, device, group_root, point, found_type, source, options;
        left >> id >> parent >> device >> group_root >> point;
        right >> found_type >> source >> options;
        if (found_type == type && (controller.empty() || has_item(options, controller)))
            return mount{point, group_root};
    }
    return std::nullopt;
}

// The folders of `group` and its ancestors below a mount, innermost first.
template <class Read>
void walk(const std::string& root, const mount& at, std::string group, Read read, std::optional<double>& limit) {
    if (at.group_root != "/" && group.rfind(at.group_root, 0) == 0) group.erase(0, at.group_root.size());
    while (true) {
        while (!group.empty() && group.back() == '/') group.pop_back();
        tighten(limit, read(root + at.point + group));
        const auto slash = group.rfind('/');
        if (group.empty() || slash == std::string::npos) return;
        group.erase(slash);
    }
}

} // namespace

std::optional<double> cgroup_cpu_quota(const std::string& root) {
    std::optional<double> limit;
    std::ifstream file(root + "/proc/self/cgroup");
    // "0::/group" in version 2, "4:cpu,cpuacct:/group" in version 1.
    for (std::string line; std::getline(file, line);) {
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string group = line.substr(second + 1);
        if (controllers.empty()) {
            if (const auto at = find_mount(root, "cgroup2", "")) walk(root, *at, group, read_v2, limit);
        } else if (has_item(controllers, "cpu")) {
            if (const auto at = find_mount(root, "cgroup", "cpu")) walk(root, *at, group, read_v1, limit);
        }
    }
    return limit;
}

std::vector<unsigned> affinity_cpus() {
    for (unsigned capacity = 1024; capacity <= (1u << 20); capacity *= 2) {
        cpu_set_t* mask = CPU_ALLOC(capacity);
        if (!mask) break;
        const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
        CPU_ZERO_S(bytes, mask);
        std::vector<unsigned> cpus;
        const bool read = ::sched_getaffinity(0, bytes, mask) == 0;
        const bool too_small = !read && errno == EINVAL;
        if (read)
            for (unsigned cpu = 0; cpu < capacity; ++cpu)
                if (CPU_ISSET_S(cpu, bytes, mask)) cpus.push_back(cpu);
        CPU_FREE(mask);
        if (!too_small) return cpus;
    }
    return {};
}

unsigned usable_cpus() {
    auto count = static_cast<double>(std::max<std::size_t>(affinity_cpus().size(), 1));
    if (const auto quota = cgroup_cpu_quota()) count = std::min(count, std::ceil(*quota));
    return static_cast<unsigned>(std::max(count, 1.0));
}

} // namespace sennit::sys
