// SPDX-License-Identifier: Apache-2.0
// Stops a thread of this process where it is, for a look at what it holds still, and lets it go on.
//
// The thread is sent a signal (SIGURG: ignored by default, passed over by debuggers; Go uses it for
// the same) and waits in the handler. A thread that was in a system call goes on with it, or finds
// it interrupted where the kernel cannot restart it. While threads are halted the caller must not
// take a lock that one of them may hold: no memory from the allocator, no output.
//
// State of a thread_suspender: going; asked; halted; who is let go is going again. Only the asker
// goes from going to asked and from halted to going, only the handler from asked to halted.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sys/thread.hpp"

#include <cstdint>

namespace sennit::sys {

// Where a thread stands.
struct code_position {
    const void* pc = nullptr;
    const std::byte* sp = nullptr;
    const std::byte* handler_sp =
        nullptr; // the handler's own: the same stack, or the one for signals
};

class thread_suspender {
public:
    // Asks. One asker at a time. False: the system refuses.
    bool request(const thread& whom) noexcept;
    // Whether the thread that was asked has stopped before the deadline (CLOCK_MONOTONIC); else it
    // is not asked any more.
    bool wait_until(const thread& whom, std::int64_t deadline_ns) noexcept;
    void resume() noexcept;
    const code_position& where() const noexcept { return where_; } // of a halted one

    // For the handler.
    void suspend_here(const code_position& where) noexcept;

private:
    static constexpr std::uint32_t running = 0, requested = 1, suspended = 2;
    bool send(const thread& whom) noexcept;

    base::atomic<std::uint32_t> state_{running};
    code_position where_;
};

// Before the first `request`, and again each time: puts the handler back if somebody has replaced
// it. A signal of this number that is none of ours goes to the handler that was there before.
void install_thread_suspender() noexcept;

// The calling thread may be halted, whatever signals its maker had blocked.
void allow_thread_suspension() noexcept;

// The number of the signal, if nobody else handles it; else 0. A system call.
int thread_suspender_signal() noexcept;

// Calls `function(argument)` while no other thread is inside the dynamic loader, nor can get there:
// unwinding asks it.
void with_loader_locked(void (*function)(void*), void* argument) noexcept;

} // namespace sennit::sys
