// SPDX-License-Identifier: Apache-2.0
// The seed, the duration and the random numbers of a test that runs random programs.
//
// The environment variable SENNIT_TEST_SEED sets the seed of the first round, and
// SENNIT_TEST_SECONDS sets how long rounds follow each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>

class dice {
public:
    explicit dice(std::uint64_t seed) : engine_(seed) {}
    int from(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
    bool one_in(int many) { return from(1, many) == 1; }
    std::uint64_t seed() { return engine_(); } // the seed for another fiber's dice

private:
    std::mt19937_64 engine_;
};

inline std::uint64_t first_seed() {
    const char* given = std::getenv("SENNIT_TEST_SEED");
    return given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

inline std::chrono::seconds test_duration(std::chrono::seconds usual) {
    const char* given = std::getenv("SENNIT_TEST_SECONDS");
    return given ? std::chrono::seconds(std::strtoull(given, nullptr, 10)) : usual;
}
