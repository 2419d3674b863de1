// SPDX-License-Identifier: Apache-2.0
// Ranges of processor numbers in the kernel's lists.
#pragma once

#include <optional>
#include <string_view>

namespace sennit::sys {

// A part of a list of processors as the kernel writes it, "0-3,8,10-11": "0-3" or "8". Nothing if
// the text is malformed or a number is 1,048,576 or more.
struct cpu_range {
    unsigned first, last;
};
std::optional<cpu_range> parse_cpu_range(std::string_view text);

} // namespace sennit::sys
