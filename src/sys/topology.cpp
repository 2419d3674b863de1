// SPDX-License-Identifier: Apache-2.0
#include "sys/topology.hpp"

#include "sys/cpu_range.hpp"
#include "sys/environment.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <memory>
#include <new>
#include <sstream>
#include <utility>

namespace sennit::sys {

namespace {

void tighten(std::optional<double>& limit, std::optional<double> candidate) {
    if (candidate && *candidate > 0 && (!limit || *candidate < *limit)) limit = candidate;
}

// Both arguments are in microseconds. "max" and -1, for no limit, give no ratio; neither do
// malformed numbers.
std::optional<double> ratio(const std::string& quota, const std::string& period) {
    const auto used = parse_count(quota), of = parse_count(period);
    if (!used || !of || *used == 0 || *of == 0) return std::nullopt;
    return static_cast<double>(*used) / static_cast<double>(*of);
}

// cpu.max: "max 100000" or "50000 100000".
std::optional<double> read_v2(const std::string& folder) {
    std::ifstream file(folder + "/cpu.max");
    std::string quota, period;
    file >> quota >> period;
    return ratio(quota, period);
}

std::optional<double> read_v1(const std::string& folder) {
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
    std::ifstream period_file(folder + "/cpu.cfs_period_us");
    std::string quota, period;
    quota_file >> quota;
    period_file >> period;
    return ratio(quota, period);
}

bool has_item(const std::string& list, const std::string& item) {
    std::istringstream items(list);
    for (std::string one; std::getline(items, one, ',');)
        if (one == item) return true;
    return false;
}

// mountinfo writes blanks and backslashes in paths as three octal digits.
std::string unescaped(const std::string& path) {
    const auto digit = [](char c) { return c >= '0' && c <= '7'; };
    std::string plain;
    for (std::size_t i = 0; i < path.size(); ++i)
        if (path[i] == '\\' && i + 3 < path.size() && digit(path[i + 1]) && digit(path[i + 2]) &&
            digit(path[i + 3])) {
            plain += static_cast<char>((path[i + 1] - '0') * 64 + (path[i + 2] - '0') * 8 +
                                       (path[i + 3] - '0'));
            i += 3;
        } else {
            plain += path[i];
        }
    return plain;
}

struct mount {
    std::string point;
    std::string group_root; // the group at the root of the mount

    bool shows(const std::string& group) const {
        return group_root == "/" || group == group_root || group.starts_with(group_root + "/");
    }
};

// Finds the mount in which `group` is visible; otherwise any mount of that type, because group
// names are relative to a namespace. A line of mountinfo: "36 35 98:0 /root /point options… - type
// source super-options".
std::optional<mount> find_mount(const std::string& root, const std::string& type,
                                const std::string& controller, const std::string& group) {
    std::optional<mount> any;
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        const auto dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        std::istringstream left(line.substr(0, dash));
        std::istringstream right(line.substr(dash + 3));
        std::string id, parent, device, group_root, point, found_type, source, options;
        left >> id >> parent >> device >> group_root >> point;
        right >> found_type >> source >> options;
        const bool whole = group_root.starts_with('/') && point.starts_with('/');
        if (!whole || found_type != type || (!controller.empty() && !has_item(options, controller)))
            continue;
        mount found{unescaped(point), unescaped(group_root)};
        if (found.shows(group)) return found;
        if (!any) any = std::move(found);
    }
    return any;
}

// The folders of `group` and its ancestors below a mount, innermost first.
template <class Read>
void walk(const std::string& root, const mount& at, std::string group, Read read,
          std::optional<double>& limit) {
    if (at.group_root != "/" && at.shows(group)) group.erase(0, at.group_root.size());
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
        if (!group.starts_with('/')) continue;
        if (controllers.empty()) {
            if (const auto at = find_mount(root, "cgroup2", "", group))
                walk(root, *at, group, read_v2, limit);
        } else if (has_item(controllers, "cpu")) {
            if (const auto at = find_mount(root, "cgroup", "cpu", group))
                walk(root, *at, group, read_v1, limit);
        }
    }
    return limit;
}

std::vector<unsigned> affinity_cpus() {
    struct free_mask {
        void operator()(cpu_set_t* mask) const noexcept { CPU_FREE(mask); }
    };
    for (unsigned capacity = 1024; capacity <= (1u << 20); capacity *= 2) {
        const std::unique_ptr<cpu_set_t, free_mask> mask(CPU_ALLOC(capacity));
        if (!mask) throw std::bad_alloc();
        const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
        CPU_ZERO_S(bytes, mask.get());
        if (::sched_getaffinity(0, bytes, mask.get()) == 0) {
            std::vector<unsigned> cpus;
            for (unsigned cpu = 0; cpu < capacity; ++cpu)
                if (CPU_ISSET_S(cpu, bytes, mask.get())) cpus.push_back(cpu);
            return cpus;
        }
        if (errno != EINVAL) break; // EINVAL: the kernel's mask is larger
    }
    return {};
}

std::optional<std::vector<unsigned>> node_cpus(unsigned node, const std::string& root) {
    const std::string nodes = root + "/sys/devices/system/node";
    std::ifstream file(nodes + "/node" + std::to_string(node) + "/cpulist");
    if (!file) {
        if (node == 0 && !std::ifstream(nodes + "/online")) return affinity_cpus();
        return std::nullopt;
    }
    std::vector<unsigned> cpus;
    std::string ranges;
    file >> ranges;
    std::istringstream items(ranges);
    for (std::string one; std::getline(items, one, ',');) {
        if (const auto range = parse_cpu_range(one))
            for (unsigned cpu = range->first; cpu <= range->last; ++cpu) cpus.push_back(cpu);
    }
    return cpus;
}

unsigned usable_cpus(const std::string& root) {
    auto count = static_cast<double>(std::max<std::size_t>(affinity_cpus().size(), 1));
    if (const auto quota = cgroup_cpu_quota(root)) count = std::min(count, std::ceil(*quota));
    return static_cast<unsigned>(std::max(count, 1.0));
}

} // namespace sennit::sys
