// SPDX-License-Identifier: Apache-2.0
// The heavy half of an asymmetric fence: makes every running thread of the process pass a full
// memory barrier, so that a compiler barrier suffices in the light, frequent half (Linux
// membarrier(2), PRIVATE_EXPEDITED).
#pragma once

#include <cstdint>

namespace sennit::sys {

// True if the kernel supports membarrier and the process is registered. The first call registers
// the process, and so does the first call in a child of fork(). SENNIT_NO_MEMBARRIER=1 in the
// environment makes it false. Thread-safe.
bool barrier_available() noexcept;

// Requires barrier_available(). False if the kernel refuses all the same (it may lack memory): then
// no thread has passed a barrier. 0.3 to 3 us.
[[nodiscard]] bool barrier_all_threads() noexcept;

// The number of calls of barrier_all_threads that returned true in this process, or in the parent
// before fork(). Thread-safe.
std::uint64_t barrier_count() noexcept;

} // namespace sennit::sys
