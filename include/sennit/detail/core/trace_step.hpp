// SPDX-License-Identifier: Apache-2.0
// Marks the begin of a part of the running strand's work in the trace (SENNIT_TRACE).
#pragma once

namespace sennit::sched {

// True if the process writes a trace. The value never changes after the first runtime has started.
bool traces_steps() noexcept;
// Adds an event with the first 23 bytes of `name`. Does not block. About 50 ns.
void trace_step(const char* name) noexcept;

} // namespace sennit::sched
