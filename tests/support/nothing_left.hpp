// SPDX-License-Identifier: Apache-2.0
// Whether a runtime that has done its work has given everything back.
#pragma once

#include "core/runtime/runtime_core.hpp"

#include <sennit/runtime.hpp>
#include <sennit/this_fiber.hpp>

// True once the runtime holds no stack beyond one for each worker, no timer and no ready work. A
// stack or a spare worker that is on its way back needs a moment, so the function looks again for
// up to 100,000 times, with a turn of the runtime in between.
inline bool nothing_left(sennit::runtime& one) {
    for (int look = 0; look < 100'000; ++look) {
        auto& core = one.core();
        const bool timers = core.timers().next_ns() != sennit::sched::never;
        const bool work = !core.injector().empty() || core.has_stealable_contexts();
        if (one.metrics().stacks_live <= one.workers() && !timers && !work) return true;
        one.run([] { sennit::this_fiber::yield(); });
    }
    return false;
}
