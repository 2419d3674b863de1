// SPDX-License-Identifier: Apache-2.0
// The number of rounds for which a test runs a race: fewer where each step is slow.
#pragma once

#include <sennit/detail/base/sanitizers.hpp>

#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
#define SENNIT_SLOW_TESTS 1
#endif

// The number of rounds of a race.
#if defined(SENNIT_SLOW_TESTS) || defined(SENNIT_EMULATED)
inline constexpr int race_rounds = 1'000;
#else
inline constexpr int race_rounds = 10'000;
#endif
