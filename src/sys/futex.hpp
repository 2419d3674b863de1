// SPDX-License-Identifier: Apache-2.0
// Sleeps until a word changes, with the kernel's futex, private to the process.
//
// All calls may return without cause, so callers must check their word again.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sys {

// Blocks while `word` holds `expected`. Returns on a wake, a mismatch or a signal.
void futex_wait(const base::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

// Like futex_wait, until `deadline_ns` (CLOCK_MONOTONIC). False when the deadline ended the wait; a
// deadline in the past ends it immediately.
bool futex_wait_until(const base::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t deadline_ns) noexcept;

// Wakes up to `count` sleepers. The word's memory may already be gone; a thread that sleeps on new
// memory at this address may then wake without cause.
void futex_wake(const base::atomic<std::uint32_t>& word, int count) noexcept;

} // namespace sennit::sys
