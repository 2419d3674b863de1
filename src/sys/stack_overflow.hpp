// SPDX-License-Identifier: Apache-2.0
// Turns a stack overflow from a bare SIGSEGV into one line that names the stack's owner.
#pragma once

#include <cstddef>

namespace sennit::sys {

// Writes a description of the fault at `address` into `text` if it recognises the address;
// otherwise returns false. Called in a signal handler.
using fault_describer = bool (*)(const void* address, char* text, std::size_t size) noexcept;

// Installs handlers for SIGSEGV and SIGBUS, once in a process; later calls change nothing. A fault
// that `describe` recognises is reported on standard error and ends the program with abort(). All
// other faults, and signals that a process sent, go to the handler that was installed before.
void install_stack_overflow_handler(fault_describer describe) noexcept;

// Gives the calling thread a stack for signal handlers, unless it has one, and removes it in the
// destructor. Throws std::bad_alloc.
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
