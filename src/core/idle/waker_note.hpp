// SPDX-License-Identifier: Apache-2.0
// The note that a waker leaves for the worker it wakes: whether both may compete for one processor.
//
// Why. The kernel places a woken thread when it is woken. If all processors are busy at that
// moment, it may choose that of the waker. A plain thread that has computed for a while, calls
// `runtime::run` and sleeps makes this happen each time on a machine with two processors: it wakes
// the first worker, which wakes the second while the plain thread has not left its processor, or
// still counts as load. Both workers then share one processor for up to 16 ms (four ticks at 250
// Hz), while another one is idle.
//
// Rule. A worker that was woken from outside, and wakes another worker, looks a little later
// whether that worker has begun. If not, it yields its processor once. The woken worker then finds
// itself where its waker was, and moves to another processor of its affinity mask. Nothing but the
// place where threads run depends on the note.
//
// Written by the waker before it notifies, read by the worker that was notified (parker.hpp).
#pragma once

#include "core/policy/tuning.hpp"

#include <cstdint>

namespace sennit::sched {

struct waker_note {
    static constexpr int no_processor = -1;

    bool from_outside = true; // the waker is no worker
    // The waker's, if the waker yields it where the woken worker begins late.
    int processor = no_processor;
    std::int64_t at_ns = 0; // the time of the wake-up, then

    // Returns true if the worker that runs on `here` now competes with its waker.
    bool competes(int here, std::int64_t now_ns) const noexcept {
        return processor != no_processor && here == processor &&
               now_ns - at_ns >= tuning::woken_begin_ns;
    }
};

} // namespace sennit::sched
