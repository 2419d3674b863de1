// SPDX-License-Identifier: Apache-2.0
// Vector clocks: who knows how much of whom. Thread t's own component is its time, which each of its writes advances.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace sennit::sim {

inline constexpr unsigned max_threads = 8; // in one execution, the scenario's own one included

struct clock {
    std::array<std::uint32_t, max_threads> at{};

    void join(const clock& other) noexcept {
        for (unsigned t = 0; t < max_threads; ++t) at[t] = std::max(at[t], other.at[t]);
    }
    bool knows(unsigned thread, std::uint32_t time) const noexcept { return at[thread] >= time; }
};

} // namespace sennit::sim
