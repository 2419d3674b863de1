// SPDX-License-Identifier: Apache-2.0
// Memory orders as sets of their effects, and the place in the program of an operation.
#pragma once

#include <cstdint>
#include <source_location>

namespace sennit::sim {

enum class order : std::uint8_t { relaxed = 0, acquire = 1, release = 2, acq_rel = 3, seq_cst = 7 };

constexpr bool acquires(order o) noexcept {
    return (static_cast<unsigned>(o) & 1) != 0;
}
constexpr bool releases(order o) noexcept {
    return (static_cast<unsigned>(o) & 2) != 0;
}

enum class operation : std::uint8_t { load, store, exchange, cas, fetch };

using place = std::source_location;

namespace hooks {
// true: a simulated thread runs; otherwise atomic words are plain words
extern constinit bool running;
} // namespace hooks

const char* base_name(place where) noexcept; // the name of its file, without folders
const char* name(order o) noexcept;
const char* name(operation what) noexcept;

} // namespace sennit::sim
