// SPDX-License-Identifier: Apache-2.0
#include "sys/clock.hpp"

#include "sennit/detail/sys/ticks.hpp"

#include <time.h>

namespace sennit::sys {

std::int64_t now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t coarse_now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

#if !defined(__x86_64__) && !defined(__aarch64__)
std::uint64_t ticks() noexcept {
    return static_cast<std::uint64_t>(now_ns());
}
#endif

} // namespace sennit::sys
