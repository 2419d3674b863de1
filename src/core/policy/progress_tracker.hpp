// SPDX-License-Identifier: Apache-2.0
// What a worker has seen of another one, to tell whether that gets on: src/core/README.md, "A
// worker's own queue".
//
// A piece behind a long one is worth taking as soon as that is cheaper than to wait for it. One
// among pieces that talk to each other is not, however long their worker has not been seen to get
// on: it may have lost its processor, or have been interrupted. So a short time without progress
// counts only where pieces have taken long before. A wrong answer costs time, nothing else.
#pragma once

#include "core/policy/tuning.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

class progress_tracker {
public:
    // It has picked something since this was asked last. `runs`: counters::tasks_run.
    bool made_progress(std::uint64_t runs, std::int64_t now_ns) noexcept {
        const std::uint64_t done = runs - std::exchange(runs_, runs);
        const std::int64_t past = now_ns - std::exchange(asked_ns_, now_ns);
        if (past > tuning::take_after_ns)
            runs_long_tasks_ = past > static_cast<std::int64_t>(done) * tuning::talk_ns;
        return done != 0;
    }
    // What it has picked took longer, then, than what only talks.
    bool runs_long_tasks() const noexcept { return runs_long_tasks_; }
    // It has come to the end of something since this was asked last. `progress_counter`:
    // worker::progress_counter.
    bool made_progress_fine(std::uint64_t progress_counter) noexcept {
        return progress_counter != std::exchange(progress_counter_, progress_counter);
    }

private:
    std::uint64_t runs_ = 0, progress_counter_ = 0;
    std::int64_t asked_ns_ = 0;
    bool runs_long_tasks_ = tuning::stressed;
};

} // namespace sennit::sched
