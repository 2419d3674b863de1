// SPDX-License-Identifier: Apache-2.0
// Turns a stack overflow from a bare SIGSEGV into one line that says whose stack it was.
#pragma once

#include <cstddef>

namespace sennit::sys {

// Writes a description of the fault at `address` into `text` if it is one that the caller knows;
// else returns false. Called in a signal handler.
using fault_describer = bool (*)(const void* address, char* text, std::size_t size) noexcept;

// Installs handlers for SIGSEGV and SIGBUS, once in a process; later calls change nothing. A fault
// that `describe` knows is reported on standard error and ends the program with abort(); others go
// to the handler that was there before, as do signals that somebody sent.
void install_stack_overflow_handler(fault_describer describe) noexcept;

// Gives the calling thread a stack for signal handlers, unless it has one; takes it away at the
// end. Throws std::bad_alloc.
class signal_stack {
public:
    signal_stack();
    ~signal_stack();
    signal_stack(const signal_stack&) = delete;

private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace sennit::sys
