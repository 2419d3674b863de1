// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace lab::io {

std::uint32_t nanoseconds(clock::duration of) {
    const auto n = std::chrono::duration_cast<std::chrono::nanoseconds>(of).count();
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(n, 0, std::numeric_limits<std::uint32_t>::max()));
}

double percentile_us(times& of, double part) {
    if (of.empty()) return 0;
    const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(of.size() - 1));
    std::nth_element(of.begin(), of.begin() + at, of.end());
    return of[static_cast<std::size_t>(at)] / 1e3;
}

std::string percentiles(times& of, const std::string& name) {
    std::string text;
    for (const auto& [part, suffix] : {std::pair{0.5, "p50"}, {0.99, "p99"}, {0.999, "p999"}}) {
        char figure[96];
        std::snprintf(figure, sizeof figure, ", \"%s_%s\": %.3f", name.c_str(), suffix,
                      percentile_us(of, part));
        text += figure;
    }
    return text;
}

} // namespace lab::io
