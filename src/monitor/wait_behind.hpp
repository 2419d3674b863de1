// SPDX-License-Identifier: Apache-2.0
// The end of a hand-over: the caller blocks, and the next owner continues.
//
// The function and its callers are inline. The processor mispredicts the return from a function
// that was entered before the stack switch, because its stack of return addresses then belongs to
// the other context.
#pragma once

#include "core/wait/wait_here.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/monitor/core.hpp"

#include <utility>

namespace sennit::detail {

[[gnu::always_inline]] inline void entrant::wait_behind(entrant& next, sched::strand& own,
                                                        const char* what, const void* on) noexcept {
    const sched::wait_options options{.cancellable = false, .what = what, .on = on};
    const sched::wait_record outer = std::exchange(own.waits_for, &options);
    sched::wake_and_park(*next.point, *point);
    own.waits_for = outer;
}

} // namespace sennit::detail
