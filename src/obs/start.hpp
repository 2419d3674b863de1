// SPDX-License-Identifier: Apache-2.0
// Start of the diagnostics that the environment asks for, before the first runtime starts.
#pragma once

#include <iosfwd>

namespace sennit::sched {
class runtime_core;
}

namespace sennit::obs {

// May be called any number of times; the first call has the effect. Throws std::invalid_argument
// for values without a meaning, and std::system_error for requests that the system refuses.
void start();

// Called when a runtime has ended. The last runtime writes the trace.
void end() noexcept;

// Implements runtime::dump.
void write_dump(sched::runtime_core& of, std::ostream& out);

} // namespace sennit::obs
