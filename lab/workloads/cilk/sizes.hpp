// SPDX-License-Identifier: Apache-2.0
// Sizes of workloads whose number of nodes has no formula: a table holds the number for each size.
#pragma once

#include "../runtime_base.hpp"

namespace lab {

// The entry of the table whose member `n` is the size that the text names.
template <class Entry, std::size_t Count>
Entry one_of(const std::string& text, const std::array<Entry, Count>& table) {
    std::string all;
    for (const Entry& entry : table) {
        if (std::to_string(entry.n) == text) return entry;
        all += (all.empty() ? "" : ", ") + std::to_string(entry.n);
    }
    throw std::invalid_argument("size must be one of " + all + ", not '" + text + "'");
}

} // namespace lab
