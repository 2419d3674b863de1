// SPDX-License-Identifier: Apache-2.0
// The share policy: decides whether the tasks in a worker's run queue are worth another worker's
// time.
//
// Tasks that communicate all the time and do little else finish sooner on one worker: each message
// between two workers costs more than the task that it causes. So the worker shares half of its
// queue only if it would need longer than some hand-overs to empty the queue. The estimate is the
// time that tasks took since the last call. Where no worker searches, sharing costs a wake-up, too.
// A worker that has had nothing to run since the last call then keeps up alone with short bursts,
// such as the events of a server, and shares only a queue that is worth the wake-up. There are two
// exceptions. New work runs newest first, so the oldest new task may stay in the queue however
// short the tasks are: then sharing is worth it, too. And now and then the worker shares in any
// case, because short tasks may continue forever, side by side; tasks that communicate come
// together again (a woken task continues where it was woken; mailbox_migration.cpp).
//
// A wrong answer costs time, nothing else: a thief that got nothing becomes the sentinel
// (src/core/README.md, "A worker's own queue"), and each later request gets a new answer. Owner's
// thread only.
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sys/clock.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

class share_policy {
public:
    // `size` tasks wait, `runs` tasks have run so far; `oldest_new` is the oldest of the tasks that
    // run newest first; `searched`: a worker searches, so that sharing needs no wake-up. `now` is
    // the time in nanoseconds, and never decreases.
    bool should_share(std::uint32_t size, std::uint64_t runs, const runnable* oldest_new,
                      bool searched, std::int64_t now) noexcept {
        if (tuning::stressed)
            return !(tasks_are_short_ = !tasks_are_short_); // Gives both answers alternately.
        const std::int64_t past = now - asked_ns_;
        if (past < tuning::share_ns) return false; // Too early to tell.
        const bool stays = oldest_new && oldest_new == oldest_new_;
        const auto done = static_cast<std::int64_t>(runs - runs_);
        const std::int64_t worth_ns = std::exchange(ran_dry_, false) && !searched
                                          ? tuning::share_by_waking_ns
                                          : tuning::share_ns;
        const bool soon_done = !stays && done > 0 && past / done * size < worth_ns;
        tasks_are_short_ = soon_done && now - shared_ns_ < tuning::trial_ns;
        if (!tasks_are_short_) shared_ns_ = now;
        asked_ns_ = now;
        runs_ = runs;
        oldest_new_ = oldest_new;
        return !tasks_are_short_;
    }
    // The worker has found no task to run.
    void note_dry() noexcept { ran_dry_ = true; }
    // True if the last should_share() call decided against sharing because the queued tasks are
    // short.
    bool tasks_are_short() const noexcept { return tasks_are_short_; }

    // True if the tasks since the last call were short, the time between them included.
    bool is_message_bound(std::uint64_t runs) noexcept {
        const std::int64_t now = sys::now_ns();
        const std::int64_t past = now - std::exchange(talked_ns_, now);
        const auto done = static_cast<std::int64_t>(runs - std::exchange(talked_runs_, runs));
        return tuning::stressed || past < done * tuning::talk_ns;
    }

private:
    std::int64_t asked_ns_ = 0;
    std::int64_t shared_ns_ = 0; // When sharing was last worth it.
    std::uint64_t runs_ = 0;
    const runnable* oldest_new_ = nullptr; // Only compared.
    bool tasks_are_short_ = false;
    bool ran_dry_ = false; // Since the last call.
    std::int64_t talked_ns_ = 0;
    std::uint64_t talked_runs_ = 0;
};

} // namespace sennit::sched
