// SPDX-License-Identifier: Apache-2.0
// How many mutexes of the system (std::mutex, and what else is a pthread_mutex_t) the running
// thread has locked.
//
// Counted in builds with SENNIT_REPORT_HELD_MUTEX only: there the library's own pthread_mutex_lock
// and its kin stand before those of libc, for the whole program, and count what succeeds. Locks
// that libc takes inside do not pass by.
#pragma once

#include <cstdint>

namespace sennit::sys {

// Puts `count` in the place of the running thread's, which it returns: a strand takes its count
// along from thread to thread. Negative: it unlocked what another strand had locked.
std::int32_t exchange_held_mutexes(std::int32_t count) noexcept;

// The code that called the last lock of this thread that succeeded; null before the first.
const void* last_mutex_locker() noexcept;

} // namespace sennit::sys
