// SPDX-License-Identifier: Apache-2.0
// The number of rounds for which a test runs a race: fewer where each step is slow.
#pragma once

#include "slow_tests.hpp"

inline constexpr int race_rounds = tests_are_slow ? 1'000 : 10'000;
