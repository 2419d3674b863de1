// SPDX-License-Identifier: Apache-2.0
// Whether what waits in a worker's own queue is worth another worker's time.
//
// Pieces that talk to each other all the time and do little else are done sooner where they are:
// each message between two workers costs more than the piece that it makes. So half of the queue is
// given away only if the worker will not have come to its end within some hand-overs, by what
// pieces took since that was asked last. New work is done newest first, so the oldest of it may
// stay however short the pieces are: that is worth it, too. And now and then it is done all the
// same, since pieces that are short may go on for ever, side by side: those that talk come together
// again (whoever is woken goes on where that was done; mailbox_migration.cpp).
//
// A wrong answer costs time, nothing else: a thief that got nothing watches (src/core/README.md, "A
// worker's own queue"), and is answered anew each time that it asks. Owner's thread only.
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sys/clock.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

class share_policy {
public:
    // `size` pieces wait, `runs` have run so far; `oldest_new` is the oldest of those that run
    // newest first.
    bool should_share(std::uint32_t size, std::uint64_t runs, const runnable* oldest_new) noexcept {
        if (tuning::stressed)
            return !(tasks_are_short_ = !tasks_are_short_); // both answers in turn
        const std::int64_t now = sys::now_ns();
        const std::int64_t past = now - asked_ns_;
        if (past < tuning::share_ns) return false; // too early to tell
        const bool stays = oldest_new && oldest_new == oldest_new_;
        const auto done = static_cast<std::int64_t>(runs - runs_);
        const std::int64_t worth =
            now < deferred_until_ns_ ? tuning::deferred_share_ns : tuning::share_ns;
        const bool soon_done = !stays && done > 0 && past / done * size < worth;
        tasks_are_short_ = soon_done && now - shared_ns_ < tuning::trial_ns;
        if (!tasks_are_short_) shared_ns_ = now;
        asked_ns_ = now;
        runs_ = runs;
        oldest_new_ = oldest_new;
        return !tasks_are_short_;
    }
    // It was not when that was asked last.
    bool tasks_are_short() const noexcept { return tasks_are_short_; }

    // Only a longer queue is worth it until the next trial: see contention_monitor.hpp.
    void defer_sharing(std::int64_t now_ns) noexcept {
        deferred_until_ns_ = now_ns + tuning::trial_ns;
    }

    // Whether pieces came and went fast since this was asked last, the time between them included.
    bool is_message_bound(std::uint64_t runs) noexcept {
        const std::int64_t now = sys::now_ns();
        const std::int64_t past = now - std::exchange(talked_ns_, now);
        const auto done = static_cast<std::int64_t>(runs - std::exchange(talked_runs_, runs));
        return tuning::stressed || past < done * tuning::talk_ns;
    }

private:
    std::int64_t asked_ns_ = 0;
    std::int64_t shared_ns_ = 0; // when it was worth it last
    std::uint64_t runs_ = 0;
    const runnable* oldest_new_ = nullptr; // only compared
    bool tasks_are_short_ = false;
    std::int64_t deferred_until_ns_ = 0;
    std::int64_t talked_ns_ = 0;
    std::uint64_t talked_runs_ = 0;
};

} // namespace sennit::sched
