// SPDX-License-Identifier: Apache-2.0
// The rare half of an asymmetric barrier: makes every running thread of the process pass a full
// memory barrier, so that the frequent half can be a mere compiler barrier (Linux membarrier(2),
// PRIVATE_EXPEDITED).
#pragma once

namespace sennit::sys {

// Whether the kernel has it and the process is registered; registers at the first call, anew in a
// child of fork(). SENNIT_NO_MEMBARRIER=1 in the environment says no. Thread-safe.
bool barrier_available() noexcept;

// Requires barrier_available(). False when the kernel refuses all the same (it may lack memory):
// then nobody has passed a barrier. 0.3 to 3 us.
[[nodiscard]] bool barrier_all_threads() noexcept;

} // namespace sennit::sys
