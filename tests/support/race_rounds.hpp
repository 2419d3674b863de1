// SPDX-License-Identifier: Apache-2.0
// How often a test runs a race: less where each step is slow.
#pragma once

#include <sennit/detail/base/sanitizers.hpp>

#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
#define SENNIT_SLOW_TESTS 1
#endif

// How often a race is run.
#if defined(SENNIT_SLOW_TESTS) || defined(SENNIT_EMULATED)
inline constexpr int race_rounds = 1'000;
#else
inline constexpr int race_rounds = 10'000;
#endif
