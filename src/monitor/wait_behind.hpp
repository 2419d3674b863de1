// SPDX-License-Identifier: Apache-2.0
// The end of a hand-over: the caller blocks, and who comes next goes on.
//
// Inline, and so are those that call it: a return from a function that was entered before the
// switch is mispredicted, since the processor's stack of return addresses is the other one's then.
#pragma once

#include "core/wait/wait_here.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/monitor/core.hpp"

#include <utility>

namespace sennit::detail {

[[gnu::always_inline]] inline void entrant::wait_behind(entrant& next, sched::strand& own,
                                                        const char* what, const void* on) noexcept {
    const sched::wait_options options{.cancellable = false, .what = what, .on = on};
    const sched::wait_options* outer = std::exchange(own.waits_for, &options);
    sched::wake_and_park(*next.point, *point);
    own.waits_for = outer;
}

} // namespace sennit::detail
