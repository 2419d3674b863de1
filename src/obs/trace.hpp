// SPDX-License-Identifier: Apache-2.0
// Records what the engine tells (core/diagnostics/tracing.hpp) and writes it as a file that
// Perfetto and chrome://tracing read.
//
// Each thread has a buffer of its own, a ring: of a long run the last events are kept. An event is
// 56 bytes and takes some 30 ns, most of them for the clock. Nobody else reads a buffer before the
// thread's runtime has ended, so there is no lock but for making buffers.
#pragma once

#include <string>

namespace sennit::obs {

inline constexpr unsigned events_of_a_thread = 1u << 17; // 7 MiB, touched as they are used

// From now on, to be written to the file. Once in a process. Throws std::system_error when the file
// cannot be made.
void start_trace(const std::string& path);

// In a child of fork(), whose parent traces: records nothing from now on. Elsewhere it does
// nothing.
void leave_trace_to_parent() noexcept;

// Writes what was recorded so far, if a trace is under way; no worker is running. Called when a
// runtime has ended: the last one writes it all. In a child of fork() it does nothing: the file is
// its parent's.
void write_trace() noexcept;

} // namespace sennit::obs
