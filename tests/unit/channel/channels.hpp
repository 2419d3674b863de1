// SPDX-License-Identifier: Apache-2.0
// Definitions that several tests of channels share.
#pragma once

#include <sennit/channel.hpp>
#include <sennit/detail/base/random.hpp>
#include <sennit/this_fiber.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

inline constexpr std::size_t unbounded = sennit::channel<int>::unbounded;

// The kinds of strands that send and receive.
enum class by { fibers, threads, both };

inline constexpr auto nothing = [] {};

inline std::chrono::nanoseconds some_time(sennit::base::random& chance) {
    return std::chrono::nanoseconds(chance.below(2) == 0 ? 0 : chance.below(20'000));
}
inline void yield_some(sennit::base::random& chance, unsigned most) {
    for (std::uint32_t i = chance.below(most); i > 0; --i) sennit::this_fiber::yield();
}
