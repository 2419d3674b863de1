// SPDX-License-Identifier: Apache-2.0
#include "sys/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sennit::sys {

void futex_wait(const base::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    const int saved = errno;
    ::syscall(SYS_futex, word.futex_address(), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
    errno = saved;
}

bool futex_wait_until(const base::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t deadline_ns) noexcept {
    const int saved = errno;
    // the kernel refuses a time before its first second
    deadline_ns = std::max<std::int64_t>(deadline_ns, 0);
    timespec deadline{};
    deadline.tv_sec = static_cast<time_t>(deadline_ns / 1'000'000'000);
    deadline.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000);
    // WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC.
    const long result = ::syscall(SYS_futex, word.futex_address(), FUTEX_WAIT_BITSET_PRIVATE,
                                  expected, &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
    const bool in_time = result == 0 || errno != ETIMEDOUT;
    errno = saved;
    return in_time;
}

void futex_wake(const base::atomic<std::uint32_t>& word, int count) noexcept {
    const int saved = errno;
    ::syscall(SYS_futex, word.futex_address(), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
    errno = saved;
}

} // namespace sennit::sys
