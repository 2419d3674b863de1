// SPDX-License-Identifier: Apache-2.0
// The name that reports show for a fiber or a task.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace sennit::sched {

// Ends with a zero; empty: there is no name.
using report_name = std::array<char, 24>;

// Keeps the first 23 bytes, and does not cut within a character of UTF-8.
inline void set_report_name(report_name& to, std::string_view name) noexcept {
    std::size_t length = std::min(name.size(), to.size() - 1);
    while (length > 0 && length < name.size() && (name[length] & 0xC0) == 0x80) --length;
    std::copy_n(name.data(), length, to.data());
    to[length] = '\0';
}

} // namespace sennit::sched
