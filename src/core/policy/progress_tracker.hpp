// SPDX-License-Identifier: Apache-2.0
// A progress tracker: one worker's notes about another worker, to tell whether that worker makes
// progress. src/core/README.md, "A worker's own queue", describes the use.
//
// A task behind a long one is worth stealing as soon as stealing is cheaper than waiting. A task
// among tasks that communicate is not, however long its worker has shown no progress: the worker
// may have lost its processor, or have been interrupted. So a short time without progress counts
// only where tasks have taken long before. A wrong answer costs time, nothing else.
#pragma once

#include "core/policy/tuning.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

class progress_tracker {
public:
    // True if the worker has picked a task since the last call. `runs`: counters::tasks_run.
    bool made_progress(std::uint64_t runs, std::int64_t now_ns) noexcept {
        const std::uint64_t done = runs - std::exchange(runs_, runs);
        const std::int64_t past = now_ns - std::exchange(asked_ns_, now_ns);
        if (past > tuning::take_after_ns)
            runs_long_tasks_ = past > static_cast<std::int64_t>(done) * tuning::talk_ns;
        return done != 0;
    }
    // True if the tasks between the last two calls of `made_progress` took longer than tasks that
    // only communicate.
    bool runs_long_tasks() const noexcept { return runs_long_tasks_; }
    // True if the worker has finished a task or a message since the last call. `progress_counter`:
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
