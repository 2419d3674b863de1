// SPDX-License-Identifier: Apache-2.0
#include "sennit/backoff.hpp"

#include "sennit/detail/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sennit {

std::chrono::nanoseconds backoff::delay(unsigned nth, double luck) const noexcept {
    using real = std::chrono::duration<double, std::nano>;
    const double doubled =
        std::ldexp(real(first).count(), static_cast<int>(std::min(nth, 1000u)) - 1);
    const double whole = std::min(doubled, real(most).count());
    // A little below the maximum of std::chrono::nanoseconds, which no double equals exactly.
    constexpr double longest = 9.2e18;
    const double rest = std::clamp(whole * (1 - jitter * luck), 0.0, longest);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(rest));
}

std::chrono::nanoseconds backoff::random_delay(unsigned nth) const noexcept {
    constexpr std::uint32_t steps = 1u << 20;
    return delay(nth, static_cast<double>(sched::random_below(steps)) / steps);
}

bool backoff::in_range() const noexcept {
    return jitter >= 0 && jitter <= 1 && first >= first.zero() && most >= first;
}

} // namespace sennit
