// SPDX-License-Identifier: Apache-2.0
// A strand is left while it holds a std::mutex: told in builds with SENNIT_REPORT_HELD_MUTEX.
//
// Whoever else locks it on the same worker blocks that worker, and with it perhaps the one who
// would unlock it; and who is left may go on in another thread, which must not unlock it.
#pragma once

#include "sennit/detail/core/strand.hpp"

#include <cstdint>

namespace sennit::sched {

// On the thread and the stack that are left, before they are. `in_blocking_pool`: to a blocking
// call, whose thread then says what `who` waits for. `count`: how many it holds. Writes to standard
// error, the first eight times in a process.
void report_held_mutex(strand* who, bool in_blocking_pool, std::int32_t count) noexcept;

} // namespace sennit::sched
