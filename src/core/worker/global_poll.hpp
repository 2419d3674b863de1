// SPDX-License-Identifier: Apache-2.0
// When a worker makes its next global poll, and in which order that poll looks at the sources.
//
// Which threads run this: the worker's own thread, except `request`, which any thread may call.
// src/core/README.md, "What begins and when", states how often a poll is due, and the resulting
// bounds. global_poll.cpp has the poll itself.
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sys/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sennit::sched {

class global_poll_schedule {
public:
    // An action that is due once in a tick of the coarse clock.
    class ticker {
    public:
        // Returns true if the clock has ticked since the last call.
        bool due(std::int64_t now_ns) noexcept {
            return std::exchange(last_ns_, now_ns) != now_ns || tuning::simulated;
        }
        void make_due() noexcept { last_ns_ = 0; }

    private:
        std::int64_t last_ns_ = 0;
    };

    // Decides at which global polls a busy worker polls for events from outside: rarely where that
    // was in vain, but at least once in a tick of the coarse clock.
    class event_gate {
    public:
        bool due(std::int64_t now_ns) noexcept {
            return tick_.due(now_ns) || left_ == 0 || left_-- == 0;
        }
        void note(bool found) noexcept {
            gap_ = found ? 1 : std::min(2 * gap_, tuning::longest_event_poll_gap);
            left_ = gap_ - 1;
        }

    private:
        ticker tick_;
        unsigned gap_ = 1; // Global polls from one poll for events to the next.
        unsigned left_ = 0;
    };

    // Returns true if the pick after `picked` picks is a global poll. Orders nothing.
    bool due(std::uint64_t picked) const noexcept { return picked >= next_.load_rlx(); }
    // Any thread. Makes the next pick a global poll. This is a hint that the worker may overwrite;
    // the watchdog repeats the request at its next look.
    void request() noexcept { next_.store_rlx(0); } // Orders nothing.
    // Returns true if a thread has requested a global poll.
    bool requested() const noexcept { return next_.load_rlx() == 0; } // Orders nothing.
    // Makes each pick a global poll until `restore`, which takes the result. Requires that `begin`
    // is not called meanwhile.
    std::uint64_t request_all() noexcept {
        const std::uint64_t next = next_.load_rlx(); // Orders nothing.
        request();
        return next;
    }
    void restore(std::uint64_t next) noexcept { next_.store_rlx(next); } // Orders nothing.
    // Makes the pick after `picked` picks a global poll.
    void make_due(std::uint64_t picked) noexcept { next_.store_rlx(picked); } // Orders nothing.
    // Lets the next global poll follow soon, and the picks until then be short: the worker
    // measures. The usual interval returns by itself.
    void shorten(std::uint64_t picked) noexcept {
        interval_ = std::min(interval_, tuning::trial_poll_interval);
        max_messages_per_batch_ = std::min(max_messages_per_batch_, tuning::trial_messages);
        next_.store_rlx(picked + interval_); // Orders nothing.
    }
    // Counts a pick that found no task, unless a global poll was requested.
    void count_empty_pick() noexcept {
        if (const std::uint64_t at = next_.load_rlx(); at != 0) // Orders nothing.
            next_.store_rlx(at - 1);                            // Orders nothing.
    }

    // A fiber is about to run a child on its own stack, which is no pick. Returns true if the clock
    // has to be read, because `inline_runs` such children have run so far.
    bool clock_due_beside_children(std::uint64_t inline_runs) const noexcept {
        return inline_runs >= next_clock_beside_children_;
    }
    // Reads the clock beside children. Returns true if it has ticked since the last poll.
    bool ticked_beside_children(std::uint64_t inline_runs) noexcept;

    // Begins a global poll after `picked` picks, and schedules the next one.
    void begin(std::uint64_t picked) noexcept;

    // The approximate time: the clock is read at each global poll, and by `read_clock`.
    std::int64_t cached_now_ns() const noexcept { return cached_now_ns_; }
    void read_clock() noexcept { cached_now_ns_ = sys::coarse_now_ns(); }

    // The number of mailboxes that may run a batch in one pick, and the number of messages in one
    // batch. Both shrink where global polls would otherwise be far apart.
    unsigned batches_per_pick() const noexcept { return interval_; }
    unsigned max_messages_per_batch() const noexcept { return max_messages_per_batch_; }

    bool own_queue_first = false;   // The next poll takes from the own queue first.
    bool last_took_outside = false; // The last poll took a task from outside.
    // The last task from outside came from the worker's pinned queue, not from the injector.
    bool last_was_pinned = false;
    ticker help;                 // Scanning the other workers' queues.
    ticker begin_oldest_spawned; // Beginning the oldest new task of the own queue.
    ticker begin_shared;         // Beginning new work that a worker had shared.
    event_gate events;           // Polling for events from outside.

private:
    // The count of picks at which the next pick is a global poll. Written by the owner; another
    // thread writes 0 to request a poll immediately.
    base::atomic<std::uint64_t> next_{tuning::global_poll_interval - 1};
    // The count of inline runs at which the next child reads the clock.
    std::uint64_t next_clock_beside_children_ = 0;
    std::int64_t cached_now_ns_ = 0;
    unsigned interval_ = tuning::global_poll_interval; // Picks from one poll to the next.
    unsigned max_messages_per_batch_ = tuning::messages_per_batch;
};

} // namespace sennit::sched
