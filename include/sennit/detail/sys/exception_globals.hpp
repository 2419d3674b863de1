// SPDX-License-Identifier: Apache-2.0
// The C++ runtime's per-thread record of exceptions in flight, which belongs to a context, not to a
// thread.
//
// A context may suspend inside a catch block, or in a destructor during unwinding, and go on in
// another thread. So the record (the stack of caught exceptions and the count of uncaught ones) is
// exchanged at each switch. The layout is that of the Itanium C++ ABI, section 2.2.2, as libstdc++
// and libc++abi have it on x86-64 and AArch64.
#pragma once

#include "sennit/detail/sys/worker_tls.hpp"

#include <cstdint>
#include <cstring>

namespace sennit::sys {

struct exception_globals {
    void* caught = nullptr;
    unsigned int uncaught = 0;

    // Any of both; in one branch.
    bool in_flight() const noexcept {
        return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) != 0;
    }
};

// Both at once, whole words with what the second half of the second happens to hold: if that is not
// zero the answer is no, and whoever asks does more than was needed.
inline bool none_in_flight(const exception_globals& one, const exception_globals& other) noexcept {
    static_assert(sizeof(exception_globals) == 2 * sizeof(std::uint64_t));
    std::uint64_t words[2];
    std::memcpy(words, &one, sizeof words);
    std::uint64_t others[2];
    std::memcpy(others, &other, sizeof others);
    return (words[0] | words[1] | others[0] | others[1]) == 0;
}

// The calling thread's record. Lives as long as the thread.
[[gnu::noinline]] exception_globals& thread_exception_globals() noexcept;

[[gnu::noinline]] exception_globals&
cache_exception_globals() noexcept; // in the hot line, at the first call below

// The same, from the hot line. Do not hold it over anything that may suspend.
inline exception_globals& tls_exception_globals() noexcept {
    void* known = tls_exceptions();
    return known ? *static_cast<exception_globals*>(known) : cache_exception_globals();
}

} // namespace sennit::sys
