// SPDX-License-Identifier: Apache-2.0
// What the environment asks for, done before the first runtime starts.
#pragma once

#include <iosfwd>

namespace sennit::sched {
class runtime_core;
}

namespace sennit::obs {

// Any number of times; the first does it. Throws std::invalid_argument for values that mean
// nothing, and what the system refuses.
void start();

// When a runtime has ended. The last one writes the trace.
void end() noexcept;

// See runtime::dump.
void write_dump(sched::runtime_core& of, std::ostream& out);

} // namespace sennit::obs
