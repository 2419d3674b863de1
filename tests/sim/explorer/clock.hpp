// SPDX-License-Identifier: Apache-2.0
// Vector clocks: how much each thread knows of each other thread. The component of thread t in its
// own clock is its time, which each of its writes advances.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace sennit::sim {

inline constexpr unsigned max_threads = 8; // in one execution, the scenario's own thread included

// Small, so that a clock fits in one processor register. The world ensures that no component
// exceeds `latest`.
using instant = std::int16_t;
inline constexpr instant latest = INT16_MAX - 1;
inline constexpr instant not_yet = INT16_MAX;

struct alignas(16) clock {
    std::array<instant, max_threads> at{};

    void join(const clock& other) noexcept {
        const lanes a = std::bit_cast<lanes>(at), b = std::bit_cast<lanes>(other.at);
        at = std::bit_cast<std::array<instant, max_threads>>(a > b ? a : b);
    }
    bool knows(unsigned thread, instant time) const noexcept { return at[thread] >= time; }
    // True if this clock knows at least one of the given instants, of which some may be `not_yet`.
    bool knows_one_of(const clock& these) const noexcept {
        const lanes hits = std::bit_cast<lanes>(at) >= std::bit_cast<lanes>(these.at);
        const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(hits);
        return (halves[0] | halves[1]) != 0;
    }

private:
    // g++ and clang support this attribute on every processor.
    typedef instant lanes __attribute__((vector_size(16)));
};

// A clock whose instants no thread has reached yet.
constexpr clock clock_not_yet() noexcept {
    clock all;
    all.at.fill(not_yet);
    return all;
}

} // namespace sennit::sim
