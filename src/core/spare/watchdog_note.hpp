// SPDX-License-Identifier: Apache-2.0
// The watchdog's note about one worker, from its last look. Only the watchdog touches it.
#pragma once

#include <cstdint>

namespace sennit::sched {

struct watchdog_note {
    std::uint64_t progress = 0;
    std::int64_t cpu_time_ns = 0; // The thread's processor time at its last progress.
    bool awake = false;           // True if the worker was awake at the last look.
};

} // namespace sennit::sched
