// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/sys/cpu_relax.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <sched.h>

namespace sennit::base {

void spin_pause(unsigned round) noexcept {
    // About 2 us: longer than any section that these locks guard.
    constexpr unsigned rounds_before_yield = 64;
    if (round < rounds_before_yield)
        sys::cpu_relax();
    else
        sched_yield();
}

namespace {

constinit thread_local std::uint32_t contended = 0;

} // namespace

std::uint32_t contended_locks() noexcept {
    return contended;
}

void note_contended_lock() noexcept {
    ++contended;
}

} // namespace sennit::base
