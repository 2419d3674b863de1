// SPDX-License-Identifier: Apache-2.0
// System calls on child processes. Each returns a negative error number where it fails.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sennit::sys {

struct spawn_request {
    std::vector<std::string> arguments; // The first is the program, which PATH may find.
    std::vector<std::pair<std::string, std::string>> variables; // Added to the environment.
    bool inherit_environment = true;
    std::string directory;         // Empty: that of this process.
    int streams[3] = {-1, -1, -1}; // Descriptors, none below 3; -1: that of this process.
    bool error_to_output = false;
    bool own_group = false;
};

struct exit_report {
    int code = 0;   // If `signal` is 0.
    int signal = 0; // The signal that has ended the process.
};

// Returns the number of the process. Blocks until the program has begun or was refused: about a
// millisecond. The child has an empty signal mask, and the default action for SIGPIPE. Throws
// std::bad_alloc.
int spawn_process(const spawn_request& what);
// A descriptor that is readable when the process has ended: Linux 5.3.
int open_process(int process) noexcept;
// Returns 1 with the report if the process has ended, and 0 otherwise. Afterwards the number may
// belong to another process.
int reap_process(int process, bool block, exit_report& into) noexcept;
inline constexpr int signal_kill = 9, signal_terminate = 15;
int signal_process(int process, int signal, bool group) noexcept;

// A pipe of which only the end of this process does not block. Both are closed at exec. `into[0]`
// is the end that reads.
int make_child_pipe(int (&into)[2], bool child_reads) noexcept;
int open_null_device() noexcept;
int duplicate_descriptor(int descriptor) noexcept; // Its number is at least 3.

} // namespace sennit::sys
