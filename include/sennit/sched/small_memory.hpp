// SPDX-License-Identifier: Apache-2.0
// Memory for small objects that are made and freed all the time, such as the control blocks of fibers: each worker
// keeps what it frees in lists by size.
#pragma once

#include <cstddef>

namespace sennit::sched {

// At least `bytes`, aligned to 16. Throws std::bad_alloc. A few ns on a worker that has freed such a piece before, else
// an allocation.
void* take_memory(std::size_t bytes);

// From any thread, with the same number of bytes.
void give_memory(void* memory, std::size_t bytes) noexcept;

} // namespace sennit::sched
