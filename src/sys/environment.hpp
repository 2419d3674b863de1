// SPDX-License-Identifier: Apache-2.0
// Settings from environment variables, and the numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sennit::sys {

// The value of the variable; nothing when it is not set or empty.
std::optional<std::string> environment(const char* name);

// Parses decimal digits and nothing else, up to 2^64 - 1.
std::optional<std::uint64_t> parse_count(std::string_view text) noexcept;

// Like parse_count, with an optional suffix K, M or G (powers of 1024, either case).
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

} // namespace sennit::sys
