// SPDX-License-Identifier: Apache-2.0
#include "sys/machine.hpp"

#include "sys/cpu_range.hpp"
#include "sys/environment.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sennit::sys {

namespace {

// A list of processors as the kernel writes it: "0-3,8,10-11".
struct cpu_list {
    std::vector<cpu_range> ranges; // Not empty.

    bool contains(unsigned cpu) const noexcept {
        return std::any_of(ranges.begin(), ranges.end(), [cpu](const cpu_range& one) {
            return one.first <= cpu && cpu <= one.last;
        });
    }
    unsigned lowest() const noexcept {
        unsigned least = ranges.front().first;
        for (const cpu_range& one : ranges) least = std::min(least, one.first);
        return least;
    }
};

std::optional<cpu_list> parse_cpu_list(std::string_view text) {
    cpu_list list;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto range = parse_cpu_range(text.substr(0, comma));
        if (!range) return std::nullopt;
        list.ranges.push_back(*range);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    if (list.ranges.empty()) return std::nullopt;
    return list;
}

// Reads small files below one folder, within the bounds of the header.
class sysfs {
public:
    explicit sysfs(const std::string& root) : devices_(root + "/sys/devices/") {}

    // The content of the file, without the newline at its end. Nothing if it cannot be read, or is
    // too large.
    std::optional<std::string> text(const std::string& path) {
        const int file = ::open((devices_ + path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file < 0) return std::nullopt;
        std::array<char, most_bytes_of_a_file + 1> bytes;
        const std::size_t most = std::min(bytes.size(), left_);
        std::size_t size = 0;
        bool whole = false;
        while (!whole && size < most) {
            const ssize_t got = ::read(file, bytes.data() + size, most - size);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) break;
            whole = got == 0;
            size += static_cast<std::size_t>(got);
        }
        ::close(file);
        left_ -= size;
        if (!whole) return std::nullopt;
        if (size != 0 && bytes[size - 1] == '\n') --size;
        return std::string(bytes.data(), size);
    }
    std::optional<unsigned> number(const std::string& path) {
        const auto found = text(path);
        const auto value = found ? parse_count(*found) : std::nullopt;
        if (!value || *value >= processor::unknown) return std::nullopt;
        return static_cast<unsigned>(*value);
    }
    std::optional<cpu_list> list(const std::string& path) {
        const auto found = text(path);
        return found ? parse_cpu_list(*found) : std::nullopt;
    }

private:
    const std::string devices_;
    std::size_t left_ = most_bytes_read;
};

std::string folder_of(unsigned cpu) {
    return "system/cpu/cpu" + std::to_string(cpu) + "/";
}

// The processors that share the level-3 cache of `cpu`.
std::optional<cpu_list> cache_sharers(sysfs& files, unsigned cpu) {
    constexpr unsigned most_caches = 10;
    for (unsigned i = 0; i < most_caches; ++i) {
        const std::string cache = folder_of(cpu) + "cache/index" + std::to_string(i) + "/";
        const auto level = files.text(cache + "level");
        if (!level) break;
        if (*level == "3") return files.list(cache + "shared_cpu_list");
    }
    return std::nullopt;
}

std::optional<cpu_list> core_siblings(sysfs& files, unsigned cpu) {
    return files.list(folder_of(cpu) + "topology/thread_siblings_list");
}

// Sets `fact` of each processor to the first processor of the list that `find` returns. The list is
// read once for all processors in it. A list without its own processor is malformed.
template <class Find>
void read_shared(std::vector<processor>& all, sysfs& files, unsigned processor::* fact, Find find) {
    for (processor& one : all) {
        if (one.*fact != processor::unknown) continue;
        const std::optional<cpu_list> sharers = find(files, one.cpu);
        if (!sharers || !sharers->contains(one.cpu)) continue;
        for (processor& other : all)
            if (other.*fact == processor::unknown && sharers->contains(other.cpu))
                other.*fact = sharers->lowest();
    }
}

void read_nodes(std::vector<processor>& all, sysfs& files) {
    constexpr unsigned most_nodes = 1024;
    const auto nodes = files.list("system/node/online");
    if (!nodes) return;
    unsigned seen = 0;
    for (const cpu_range& some : nodes->ranges)
        for (unsigned node = some.first; node <= some.last && seen < most_nodes; ++node, ++seen) {
            const auto cpus = files.list("system/node/node" + std::to_string(node) + "/cpulist");
            if (!cpus) continue; // Malformed, or a node that has memory only.
            for (processor& one : all)
                if (one.node == processor::unknown && cpus->contains(one.cpu)) one.node = node;
        }
}

bool differ(const std::vector<processor>& all) {
    return std::any_of(all.begin(), all.end(),
                       [&](const processor& one) { return one.capacity != all.front().capacity; });
}

// Reads the number in the file `name` of each core. Returns true if all numbers are there and not
// all are equal.
bool read_capacities(std::vector<processor>& all, sysfs& files, const char* name) {
    for (processor& one : all) {
        const auto sibling = std::find_if(all.begin(), all.end(), [&](const processor& other) {
            return &other == &one || (other.core != processor::unknown && other.core == one.core);
        });
        const auto value =
            &*sibling != &one ? sibling->capacity : files.number(folder_of(one.cpu) + name);
        if (!value) return false;
        one.capacity = *value;
    }
    return differ(all);
}

// The lists of processors by kind of core that the kernel has on hybrid x86 machines.
bool read_kinds_of_core(std::vector<processor>& all, sysfs& files) {
    const auto fast = files.list("cpu_core/cpus");
    const auto slow = files.list("cpu_atom/cpus");
    if (!fast || !slow) return false;
    for (processor& one : all) {
        if (fast->contains(one.cpu) == slow->contains(one.cpu)) return false;
        one.capacity = fast->contains(one.cpu) ? 2 : 1;
    }
    return differ(all);
}

} // namespace

std::vector<processor> describe_processors(const std::vector<unsigned>& cpus,
                                           const std::string& root) {
    std::vector<processor> all;
    for (const unsigned cpu : cpus) {
        if (all.size() == most_processors_read) break;
        all.push_back({.cpu = cpu});
    }
    sysfs files(root);
    read_shared(all, files, &processor::cache, cache_sharers);
    read_shared(all, files, &processor::core, core_siblings);
    read_nodes(all, files);
    // The kernel gives all processors one capacity where a hybrid machine has siblings, too.
    if (!read_capacities(all, files, "cpu_capacity") && !read_kinds_of_core(all, files) &&
        !read_capacities(all, files, "cpufreq/cpuinfo_max_freq"))
        for (processor& one : all) one.capacity = processor::unknown;
    for (std::size_t i = all.size(); i < cpus.size(); ++i) all.push_back({.cpu = cpus[i]});
    return all;
}

} // namespace sennit::sys
