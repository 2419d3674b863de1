// SPDX-License-Identifier: Apache-2.0
// ticks: measures short durations by the processor's own counter, at half the cost of the clock or
// less. The results depend on the processor, so they are for guesses, such as the length of a
// chunk: never for a time limit.
#pragma once

#include <cstdint>

namespace sennit::sys {

// On x86-64 the rate of the counter is not known to a program. Processors have 1 to 5 GHz, so a
// duration in ticks is right within a factor of 2.5. A thread that the system moves to another
// processor may see the counter run backwards on old machines: the difference is then huge.
#if defined(__x86_64__) && !defined(SENNIT_SIMULATOR)
inline std::uint64_t ticks() noexcept {
    return __builtin_ia32_rdtsc();
}
inline std::uint64_t ticks_per_us() noexcept {
    return 2'500;
}
#elif defined(__aarch64__) && !defined(SENNIT_SIMULATOR)
inline std::uint64_t ticks() noexcept {
    std::uint64_t now;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}
inline std::uint64_t ticks_per_us() noexcept {
    std::uint64_t hertz;
    asm("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz / 1'000'000;
}
#else
std::uint64_t ticks() noexcept; // nanoseconds of the clock
inline std::uint64_t ticks_per_us() noexcept {
    return 1'000;
}
#endif

} // namespace sennit::sys
