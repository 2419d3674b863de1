// SPDX-License-Identifier: Apache-2.0
// Sleep until a word changes: the kernel's futex, private to the process.
//
// All calls may return without cause; callers look at their word again.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sys {

// Blocks while `word` holds `expected`. Returns on a wake, a mismatch or a signal.
void futex_wait(const base::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

// The same until `deadline_ns` (CLOCK_MONOTONIC). False when the deadline ended the wait; one in
// the past does so at once.
bool futex_wait_until(const base::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t deadline_ns) noexcept;

// Wakes up to `count` sleepers. The word's memory may be gone already: then somebody may wake for
// nothing.
void futex_wake(const base::atomic<std::uint32_t>& word, int count) noexcept;

} // namespace sennit::sys
