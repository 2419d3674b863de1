// SPDX-License-Identifier: Apache-2.0
// The number of system mutexes (std::mutex, and everything else that is a pthread_mutex_t) that the
// running thread has locked.
//
// Only builds with SENNIT_REPORT_HELD_MUTEX count. There the library's own pthread_mutex_lock and
// its relatives replace those of libc for the whole program, and count successful calls. Locks that
// libc takes internally are not counted.
#pragma once

#include <cstdint>

namespace sennit::sys {

// Sets the running thread's count to `count` and returns the previous value: a strand takes its
// count along from thread to thread. Negative: the strand unlocked mutexes that another strand had
// locked.
std::int32_t exchange_held_mutexes(std::int32_t count) noexcept;

// The address of the code that made this thread's last successful lock; null before the first.
const void* last_mutex_locker() noexcept;

} // namespace sennit::sys
