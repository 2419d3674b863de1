// SPDX-License-Identifier: Apache-2.0
// One run of a task graph or of a pipeline, in which several workers take part.
//
// A run consists of visits. A visit is the part that one strand executes: it begins with one item
// of ready work and ends when the visit has none left. The runner, the strand that called `run`,
// executes the first visit. Each steal begins a further visit.
//
// Which threads run this: the runner, and the workers that take part. State:
//
//   field         written by                         guarded by
//   type          the constructor                    constant
//   scope         any thread that cancels            its own lock; each visit of a thief has a
//                                                      scope below it
//   open_         the runner and the thieves         lock_
//   joiner_       the runner, the last visit         lock_
//   error_        the visits that fail               lock_
//   cut_short_    visits that drop work              atomic; read after the last visit
//   slots and     the visit's own strand             owner only
//     count of a visit
//
// Protocol.
//   V1  A visit offers ready work: it pushes a detached fork for each item.
//   V2  When the present item is finished, the visit takes the newest offer back. If the offer was
//       stolen, all older ones were stolen, too, and the visit ends.
//   V3  A thief counts its visit in `open_` while the victim's join still waits for the thief
//       (detached_fork.hpp: T1). The thief's last access closes the visit.
//   V4  The runner closes its own visit and blocks until `open_` is zero.
// All work is done when `open_` is zero. Each item lies in an offer of an open visit, or an open
// visit executes it. A node that waits for a token counts as an open visit. An offer leaves its
// visit only by V2 or V3, and V3 opens the next visit before the victim can close its own.
//
// A visit hides no work while it runs user code, because that code may block until other work of
// the run is done. The fork stack is finite. A visit that has no slot left first drops the slots
// that were stolen. If that frees none, the older half of its offers becomes a task (`overflow`).
//
// Rejected: joins that wait for the end of stolen work, as fork_join's do. In a wavefront, the
// visit of each row would then wait for the visit of the next row. The run would hold a stack for
// each row instead of a stack for each worker.
//
// Tested by tests/unit/par, and the explorer's group `task_graph`.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/detached_fork.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstdint>
#include <exception>
#include <span>

namespace sennit::par::detail {

class visit;

// A piece of ready work. Its user gives the two numbers a meaning, such as a range of edges.
struct work_item {
    std::uint32_t first;
    std::uint32_t last;
};

class joint_run {
public:
    // The part in which a graph and a pipeline differ.
    struct functions {
        // Executes one item. It may offer further items to `who`, and may suspend.
        void (*step)(joint_run&, visit& who, work_item what) noexcept;
        // Makes tasks of the given items, oldest first, for which a visit has no room. The tasks
        // run them by execute_opened.
        void (*overflow)(joint_run&, std::span<const work_item> items) noexcept;
        // The runner calls it once if the run is cancelled while it waits for visits. Null: nothing
        // is to be done.
        void (*abandon)(joint_run&) noexcept;
        const char* what; // names the wait of the runner in reports
    };

    // The caller runs on a worker. `above`: the scope of cancellation around the run; null: none.
    joint_run(const functions& type, sched::cancel_scope* above) noexcept;
    joint_run(const joint_run&) = delete;

    // Executes `first` and everything that follows from it. Blocks the caller, which must run on a
    // worker, until all visits have ended.
    void execute(work_item first) noexcept;

    // Executes the items, of which there is at least one, in a new visit of the calling strand, the
    // last one first. Then closes the visit, which the caller has opened: the last access to the
    // run.
    void execute_opened(std::span<const work_item> items) noexcept;
    void open_visit() noexcept;
    void close_visit() noexcept;

    // Records an error of item number `where`; the error of the lowest number wins.
    void record_error(std::uint64_t where, std::exception_ptr error) noexcept;
    // True from the moment at which the run must start no further work.
    bool cancelled() const noexcept { return scope.cancelled(); }
    // Notes that work was dropped. Orders nothing: lock_ orders it before the runner's read.
    void cut_short() noexcept { cut_short_.store_rlx(true); }

    // For the runner, after execute: throws the recorded error, or `cancelled` if work was dropped.
    void rethrow();
    // Orders nothing: see cut_short.
    bool succeeded() const noexcept { return !error_ && !cut_short_.load_rlx(); }

    const functions& type;
    sched::runtime_core& runtime;
    sched::cancel_scope scope; // the runner's strand runs in it

private:
    base::atomic<bool> cut_short_{false};
    base::spin_lock lock_; // guards the members below
    std::uint32_t open_ = 1;
    std::uint64_t error_at_ = 0;
    std::exception_ptr error_;
    sched::wait_list joiner_;
};

class visit {
public:
    explicit visit(joint_run& run) noexcept;
    visit(const visit&) = delete;

    // Makes `what` visible to thieves.
    void offer(work_item what) noexcept {
        if (count_ == room_) [[unlikely]]
            return offer_when_full(what);
        push(what);
    }
    // Like `offer`, but a request for work may wait while a worker searches, which then takes the
    // offer by force.
    void offer_patiently(work_item what) noexcept;
    // Takes the newest offer back. False: there is none left, and the visit must end.
    bool take(work_item& what) noexcept;

    // Executes the items, the last one first, and all that they offer.
    static void run_all(joint_run& run, std::span<const work_item> items) noexcept;

private:
#if defined(SENNIT_STRESS) || defined(SENNIT_SIMULATOR)
    static constexpr std::uint32_t most_slots = 3;
#else
    // The fork stack of a context holds at least 512 slots. 16 to 256 take the same time.
    static constexpr std::uint32_t most_slots = 64;
#endif

    void push(work_item what) noexcept;
    void offer_when_full(work_item what) noexcept;
    std::uint32_t pop_all(work_item* newest_first) noexcept;

    joint_run& run_;
    sched::fork_slot* const base_;
    const std::uint32_t room_;
    std::uint32_t count_ = 0;
};

} // namespace sennit::par::detail
