// SPDX-License-Identifier: Apache-2.0
// How often a test runs a race: less where each step is slow.
#pragma once

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SENNIT_SLOW_TESTS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SENNIT_SLOW_TESTS 1
#endif
#endif

// How often a race is run.
#if defined(SENNIT_SLOW_TESTS) || defined(SENNIT_EMULATED)
inline constexpr int race_rounds = 1'000;
#else
inline constexpr int race_rounds = 10'000;
#endif
