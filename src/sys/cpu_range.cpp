// SPDX-License-Identifier: Apache-2.0
#include "sys/cpu_range.hpp"

#include "sys/environment.hpp"

#include <cstddef>

namespace sennit::sys {

std::optional<cpu_range> parse_cpu_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = parse_count(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_count(text.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= (1u << 20)) return std::nullopt;
    return cpu_range{static_cast<unsigned>(*first), static_cast<unsigned>(*last)};
}

} // namespace sennit::sys
