// SPDX-License-Identifier: Apache-2.0
// A call that blocks its thread, made where it keeps no worker from working.
#pragma once

namespace sennit::sched {

// Makes the call on a thread of the runtime's own for such calls, as the running activity, while
// the caller's worker goes on. False, without having called, on a thread that is no worker, or when
// no thread is to be had.
bool run_blocking(void (*function)(void*) noexcept, void* argument);

} // namespace sennit::sched
