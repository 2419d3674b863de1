// SPDX-License-Identifier: Apache-2.0
// The C++ runtime's per-thread record of exceptions in flight, which belongs to a context, not to a
// thread.
//
// A context may suspend inside a catch block, or in a destructor during unwinding, and continue in
// another thread. So the record (the stack of caught exceptions and the count of uncaught
// exceptions) is exchanged at each switch. The layout is the one of the Itanium C++ ABI, section
// 2.2.2, which libstdc++ and libc++abi use on x86-64 and AArch64.
#pragma once

#include "sennit/detail/sys/worker_tls.hpp"

#include <cstdint>
#include <cstring>

namespace sennit::sys {

struct exception_globals {
    void* caught = nullptr;
    unsigned int uncaught = 0;

    // True if either member is not zero. It costs one branch.
    bool in_flight() const noexcept {
        return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) != 0;
    }
};

// True if neither record has an exception in flight. The comparison reads whole 8-byte words,
// including the padding after `uncaught`. Padding that is not zero makes the result false, and the
// caller then does more work than necessary.
inline bool none_in_flight(const exception_globals& one, const exception_globals& other) noexcept {
    static_assert(sizeof(exception_globals) == 2 * sizeof(std::uint64_t));
    std::uint64_t words[2];
    std::memcpy(words, &one, sizeof words);
    std::uint64_t others[2];
    std::memcpy(others, &other, sizeof others);
    return (words[0] | words[1] | others[0] | others[1]) == 0;
}

// Returns the calling thread's record, which lives as long as the thread.
[[gnu::noinline]] exception_globals& thread_exception_globals() noexcept;

// Stores the address of the calling thread's record in the worker TLS line. The first call of
// tls_exception_globals() on a thread calls it.
[[gnu::noinline]] exception_globals& cache_exception_globals() noexcept;

// Returns the calling thread's record through the worker TLS line. Do not hold the reference over
// anything that may suspend.
inline exception_globals& tls_exception_globals() noexcept {
    void* known = tls_exceptions();
    return known ? *static_cast<exception_globals*>(known) : cache_exception_globals();
}

} // namespace sennit::sys
