// SPDX-License-Identifier: Apache-2.0
// What the soak does: small programs over every primitive, each with random sizes and an answer that can be checked.
#pragma once

#include <sennit/runtime.hpp>

#include <cstdint>
#include <random>
#include <span>

namespace soak {

class dice {
public:
    explicit dice(std::uint64_t seed) : engine_(seed) {}
    int from(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
    std::uint64_t seed() { return engine_(); }

private:
    std::mt19937_64 engine_;
};

// Runs on a worker of a runtime. True: the answer was right. Leaves nothing behind.
struct program {
    const char* name;
    bool (*run)(dice& with);
};

std::span<const program> programs();

} // namespace soak
