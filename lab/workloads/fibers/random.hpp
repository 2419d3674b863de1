// SPDX-License-Identifier: Apache-2.0
// Random numbers that are equal in every runtime: xorshift of Marsaglia, 64 bits (13, 7, 17).
#pragma once

#include <cstddef>
#include <cstdint>

namespace lab {

class random_numbers {
public:
    explicit random_numbers(std::int64_t seed)
        : state_(static_cast<std::uint64_t>(seed + 1) * 0x9E3779B97F4A7C15) {}
    std::size_t below(std::uint64_t bound) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::size_t>((state_ >> 32) % bound);
    }

private:
    std::uint64_t state_;
};

} // namespace lab
