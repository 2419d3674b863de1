// SPDX-License-Identifier: Apache-2.0
#include "sys/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>

namespace sennit::sys {

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (!value || *value == '\0') return std::nullopt;
    return std::string(value);
}

std::optional<std::uint64_t> parse_count(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
    unsigned shift = 0;
    if (!text.empty()) {
        switch (text.back()) {
        case 'k':
        case 'K':
            shift = 10;
            break;
        case 'm':
        case 'M':
            shift = 20;
            break;
        case 'g':
        case 'G':
            shift = 30;
            break;
        default:
            break;
        }
    }
    if (shift != 0) text.remove_suffix(1);
    const auto value = parse_count(text);
    if (!value || *value > (std::numeric_limits<std::uint64_t>::max() >> shift))
        return std::nullopt;
    return *value << shift;
}

} // namespace sennit::sys
