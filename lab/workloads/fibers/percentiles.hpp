// SPDX-License-Identifier: Apache-2.0
// Percentiles of measured times, as further members of the line of JSON.
#pragma once

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace lab {

// The name of a figure, and its place among 1,000 sorted samples: {"late_us_p99", 990}.
using percentile = std::pair<const char*, std::size_t>;

// Sorts the samples. Without samples, all figures are 0.
inline std::string percentiles(std::vector<double>& samples,
                               std::initializer_list<percentile> wanted) {
    std::sort(samples.begin(), samples.end());
    std::string text;
    for (const auto& [name, of_1000] : wanted) {
        const double value =
            samples.empty() ? 0.0 : samples[(samples.size() - 1) * of_1000 / 1'000];
        char member[64];
        std::snprintf(member, sizeof member, ", \"%s\": %.1f", name, value);
        text += member;
    }
    return text;
}

} // namespace lab
