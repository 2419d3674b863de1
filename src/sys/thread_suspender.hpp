// SPDX-License-Identifier: Apache-2.0
// Suspends a thread of this process wherever it is, so that another thread can examine its state,
// and resumes it.
//
// The suspender sends a signal (SIGURG: ignored by default, passed over by debuggers; Go uses it
// for the same purpose), and the thread waits in the handler. A thread that was in a system call
// continues the call, or finds it interrupted if the kernel cannot restart it. While threads are
// suspended, the caller must not take a lock that one of them may hold: no memory from the
// allocator, no output.
//
// State of a thread_suspender: running; requested; suspended; then running again. Only the
// requester changes running to requested and suspended to running. Only the handler changes
// requested to suspended.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace sennit::sys {

// The position of a thread in its code.
struct code_position {
    const void* pc = nullptr;
    const std::byte* sp = nullptr;
    // The handler's own stack pointer: on the same stack, or on the signal stack.
    const std::byte* handler_sp = nullptr;
};

class thread_suspender {
public:
    // Requests a suspension. One requester at a time. False: the system refuses.
    bool request(pthread_t whom) noexcept;
    // True if the thread was suspended before the deadline (CLOCK_MONOTONIC); otherwise the request
    // is withdrawn.
    bool wait_until(pthread_t whom, std::int64_t deadline_ns) noexcept;
    void resume() noexcept;
    // Requires a suspended thread.
    const code_position& where() const noexcept { return where_; }

    // Called by the handler.
    void suspend_here(const code_position& where) noexcept;

private:
    static constexpr std::uint32_t running = 0, requested = 1, suspended = 2;
    bool send(pthread_t whom) noexcept;

    base::atomic<std::uint32_t> state_{running};
    code_position where_;
};

// Must be called before the first `request`; a later call restores the handler if the program has
// replaced it. A signal of this number that is not from this class goes to the handler that was
// installed before.
void install_thread_suspender() noexcept;

// Lets the calling thread be suspended, even if its creator had blocked signals.
void allow_thread_suspension() noexcept;

// The number of the signal, if no other handler is installed for it; otherwise 0. A system call.
int thread_suspender_signal() noexcept;

// Calls `function(argument)` while no other thread is inside the dynamic loader or can enter it.
// Unwinding uses the loader.
void with_loader_locked(void (*function)(void*), void* argument) noexcept;

} // namespace sennit::sys
