// SPDX-License-Identifier: Apache-2.0
// Runs a call that blocks its thread without keeping a worker from its other work.
#pragma once

namespace sennit::sched {

// Makes the call as the running strand, on a thread that the runtime keeps for blocking calls. The
// caller's worker continues with other work meanwhile. Returns false, without having called the
// function, if the caller is not on a worker or no thread is available.
bool run_blocking(void (*function)(void*) noexcept, void* argument);

} // namespace sennit::sched
