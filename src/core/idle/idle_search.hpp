// SPDX-License-Identifier: Apache-2.0
// The idle path of one worker: it searches for work for some time (runtime_options), asks busy
// workers to share, then parks. src/core/README.md, "Two protocols" and "Why no wake-up is lost",
// has the protocol and its proof.
//
// Which threads run this: the worker's own thread, except for `parker` and `untimed_park_epoch`,
// which say otherwise.
#pragma once

#include "core/idle/event_source.hpp"
#include "core/idle/parker.hpp"
#include "core/policy/late_look_policy.hpp"
#include "core/policy/progress_tracker.hpp"
#include "core/policy/search_policy.hpp"
#include "sennit/detail/base/atomic.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace sennit::sched {

class worker;

class idle_search {
public:
    explicit idle_search(worker& me) noexcept : me_(me) {}
    // Allocates the notes about `workers` workers. `search_time` is that of runtime_options. Before
    // the thread starts. Throws std::bad_alloc.
    void prepare(unsigned workers, std::chrono::nanoseconds search_time);

    // Returns true if the caller has to look for work again, and false if the runtime ends and
    // nothing is left to do. Searches, and parks as long as there is no work.
    bool park_or_find_work() noexcept;
    // Ends the search of a worker that has taken work, or deactivates. No effect if the worker is
    // not counted as a searcher.
    void end_search() noexcept {
        if (searches_) [[unlikely]]
            end_search_slowly();
    }
    // Ends the search likewise. The caller then wakes a worker if no worker searches.
    void hand_over_search() noexcept;
    // Scans the other workers' queues, for a worker that has work, and takes what lies behind a
    // stuck worker.
    void help_stuck_workers() noexcept;
    // A guest parks the worker, whose own thread sleeps, before it leaves: guest_thread.cpp.
    // Returns true if that thread must be woken, for work or for a duty.
    bool park_for_guest() noexcept;
    // A guest, before it runs a task: takes the duties of the parked worker from it.
    void begin_guest() noexcept;
    // Parks until a waker chooses the worker, and looks for deadlocks meanwhile. Returns true if a
    // waker did. Where `events` is not null, also returns when it has events, or without cause.
    // src/core/diagnostics/deadlock_detector.cpp.
    bool park_without_deadline(event_source* events) noexcept;
    // Own thread. The events that this worker has taken and not delivered yet.
    caught_events& caught() noexcept { return caught_; }

    // The worker's place to sleep. Any thread may notify it under the protocol of parker.hpp.
    sched::parker& parker() noexcept { return parker_; }
    // Own thread. The note for a worker that this one wakes; null: a worker of another runtime.
    waker_note leave_waker_note(const sched::parker* woken) noexcept;
    // Own thread, at a push that finds a request for work. True: the request can wait, because the
    // woken worker has just been placed on a processor.
    bool waits_for_woken() noexcept { return woken_ && waits_for_woken_slowly(); }
    // Any thread. The number of times that a thread woke the worker; a metric.
    std::uint64_t wakes() const noexcept { return parker_.wakes(); }
    // Any thread. Odd while the worker is parked without a deadline.
    std::uint32_t untimed_park_epoch() const noexcept { return untimed_park_epoch_.load(); }
    // Own thread. Before and after a sleep without a deadline.
    void advance_untimed_park_epoch() noexcept {
        untimed_park_epoch_.store(untimed_park_epoch_.load_rlx() + 1); // Owner's own word.
    }

private:
    enum class sight { nothing, lone_tasks, work };
    enum class last_look { just_now, a_moment_ago, a_while_ago, long_ago };
    bool search(std::int64_t start, bool& lone_tasks) noexcept;
    bool events_moved(event_source* events) noexcept;
    [[gnu::noinline]] void end_search_slowly() noexcept;
    bool work_in_sight() noexcept;
    bool work_for_others() noexcept;
    sight look_at_queues(last_look when) noexcept;
    bool park(bool lone_tasks) noexcept;
    void cancel_park(bool is_sentinel) noexcept;
    void end_watch() noexcept;
    bool may_look_late() noexcept;
    void end_late_look() noexcept;
    void note_saved_look() noexcept;
    void leave_processor_of_waker() noexcept;
    bool waits_for_woken_slowly() noexcept;
    bool look_for_parked_workers() noexcept;
    void request_share_from_all() noexcept;
    void request_share_from_all_and_self() noexcept;

    worker& me_;
    // A futex sleep and wake costs 5 to 50 us. A search of about that long, the default, never
    // costs more than twice the best choice.
    search_policy search_policy_;
    bool searches_ = false; // True while this worker is counted as a searcher.
    // True if this worker was woken from outside, and has woken no other worker since.
    bool woken_from_outside_ = false;
    // The worker that this one woke first after it was woken from outside, until that worker has
    // begun or this one has yielded to it; null: none. `woken_ns_`: the time of that wake-up.
    const sched::parker* woken_ = nullptr;
    std::int64_t woken_ns_ = 0;
    late_look_policy late_look_policy_;
    bool owes_look_ = false; // True while this worker is the late looker.
    bool leads_ = false;     // True while this worker sleeps as the timer leader.
    std::unique_ptr<progress_tracker[]> progress_trackers_; // One for each worker.
    caught_events caught_;
    std::uint32_t seen_delivered_ = 0; // event_source::delivered() at the last look.
    sched::parker parker_;
    base::atomic<std::uint32_t> untimed_park_epoch_{0}; // Written by the owner.
};

} // namespace sennit::sched
