// SPDX-License-Identifier: Apache-2.0
// A description of the machine's processors, from the files of the kernel under /sys: which
// processors share a level-3 cache, a NUMA node or a core, and how fast they are.
//
// Each fact is a hint. A file that is missing, malformed or too large leaves its fact unknown, and
// is no error. The files come from the kernel, a container or a test, so the number of bytes and of
// processors that are read has a bound.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sennit::sys {

struct processor {
    static constexpr unsigned unknown = ~0u;
    unsigned cpu = 0;            // The kernel's number.
    unsigned cache = unknown;    // The first processor that shares its level-3 cache.
    unsigned node = unknown;     // Its NUMA node.
    unsigned core = unknown;     // The first processor of its core: siblings have the same one.
    unsigned capacity = unknown; // A larger number is faster. Compared within one machine only.
    bool operator==(const processor&) const = default;
};

// Processors behind this number of them are described as unknown.
inline constexpr std::size_t most_processors_read = 4096;
// A larger file is not read to its end, and counts as malformed.
inline constexpr std::size_t most_bytes_of_a_file = 8192;
// All files of one description together.
inline constexpr std::size_t most_bytes_read = std::size_t{1} << 20;

// Describes the processors `cpus`, in this order. `root` is put before every path that is read, for
// tests. Throws std::bad_alloc.
std::vector<processor> describe_processors(const std::vector<unsigned>& cpus,
                                           const std::string& root = "");

} // namespace sennit::sys
