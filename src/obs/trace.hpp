// SPDX-License-Identifier: Apache-2.0
// Recording of the engine's events (core/diagnostics/tracing.hpp), and their output as a file that
// Perfetto and chrome://tracing read.
//
// Each thread has a buffer of its own, a ring: of a long run it keeps the last events. An event is
// 56 bytes and takes about 30 ns, most of them for the clock. No other thread reads a buffer before
// the thread's runtime has ended, so only the creation of buffers takes a lock.
#pragma once

#include <string>

namespace sennit::obs {

inline constexpr unsigned events_of_a_thread = 1u << 17; // 8 MiB, touched as they are used

// Starts recording for the file. May be called once in a process. Throws std::system_error when the
// file cannot be created.
void start_trace(const std::string& path);

// Called in a child of fork() whose parent traces: stops recording. In any other process it has no
// effect.
void leave_trace_to_parent() noexcept;

// Writes the events recorded so far, if a trace is in progress. No worker may be running. Called
// when a runtime has ended: the last runtime writes all events. In a child of fork() it has no
// effect, because the file belongs to the parent.
void write_trace() noexcept;

} // namespace sennit::obs
