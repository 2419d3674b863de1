// SPDX-License-Identifier: Apache-2.0
// The late-look policy: whether a worker that parks as the last searcher looks behind a barrier at
// once, or late: src/core/README.md, "Two protocols".
//
// A late look saves the barrier if the worker is woken before. Otherwise it costs a wake-up by the
// clock, which is some 5 us. After each such wake-up the worker looks at once for twice as many
// sleeps as after the last one, up to `most_skipped`. One late look that was saved resets that.
//
// A pure function of its calls, without a clock or a worker. Owned by one thread.
#pragma once

#include <algorithm>

namespace sennit::sched {

class late_look_policy {
public:
    // True if the next look is to be late.
    bool looks_late() noexcept {
        if (skip_ == 0) return true;
        --skip_;
        return false;
    }
    // A late look was saved, because the worker was woken before, or it was due.
    void note_saved() noexcept { next_skip_ = 1; }
    void note_due() noexcept {
        skip_ = next_skip_;
        next_skip_ = std::min(2 * next_skip_, most_skipped);
    }

    static constexpr unsigned most_skipped = 64;

private:
    unsigned skip_ = 0;
    unsigned next_skip_ = 1;
};

} // namespace sennit::sched
