// SPDX-License-Identifier: Apache-2.0
// A small, fast generator for scheduling decisions (xorshift64*, Vigna 2016). It is not suitable
// for cryptography or statistics.
#pragma once

#include <cstdint>

namespace sennit::base {

class random {
public:
    explicit random(std::uint64_t seed) noexcept : state_(seed * 0x9E3779B97F4A7C15u | 1) {}

    std::uint64_t next() noexcept {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1Du;
    }

    // Uniform enough in [0, bound), bound > 0.
    std::uint32_t below(std::uint32_t bound) noexcept {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }

private:
    std::uint64_t state_; // never zero
};

} // namespace sennit::base
