// SPDX-License-Identifier: Apache-2.0
// Which builds run each step of a test slowly: those with a sanitizer (SENNIT_SLOW_TESTS), and
// emulated ones.
#pragma once

#include <sennit/detail/base/sanitizers.hpp>

#include <cstddef>

#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
#define SENNIT_SLOW_TESTS 1
#endif

#if defined(SENNIT_SLOW_TESTS) || defined(SENNIT_EMULATED)
inline constexpr bool tests_are_slow = true;
#else
inline constexpr bool tests_are_slow = false;
#endif

// The size of a large input: `n`, but a sixteenth of it in a slow build.
constexpr std::size_t large(std::size_t n) {
    return tests_are_slow ? n / 16 : n;
}
