// SPDX-License-Identifier: Apache-2.0
// The thief of one worker: takes forks and tasks from other workers.
//
// Which threads run this: the worker's own thread. It reads other workers only through members that
// any thread may use. src/core/fork/steal_fork.cpp has the half for forks, thief.cpp the half for
// tasks.
#pragma once

#include "core/queues/run_queue.hpp"

#include <cstdint>

namespace sennit::sched {

class context;
class worker;
struct fork_slot;

class thief {
public:
    explicit thief(worker& me) noexcept : me_(me) {}

    // Steals a fork and runs it. Returns false if no worker and no suspended context has a public
    // one; every worker without one has got a steal request.
    bool steal_fork() noexcept;
    // Steals a fork of a suspended context and runs it. Returns false if there is none.
    bool steal_fork_from_suspended() noexcept;
    // Steals a fork of a stolen child that runs on another worker, or of one of its descendants,
    // and runs it. Returns false if there is none; that worker then has got a steal request.
    // (Leapfrogging: Wagner and Calder, PPoPP 1993.)
    bool steal_fork_of_child(const fork_slot& child) noexcept;
    // Returns a suspended context with public forks that this worker may run; null if there is
    // none.
    context* find_stealable_context() const noexcept;
    // Forces publication: makes half of the private forks of running contexts public where a
    // context has no public ones. One barrier of all threads serves several contexts. Returns true
    // if any fork became public. Ends after the first barrier behind which one did.
    bool force_publication_of_any() noexcept;
    // Forces publication on every running context, for a look before a sleep. `after_barrier`: also
    // on those whose private forks only a look after a barrier shows. Returns false if the system
    // refused a barrier.
    bool force_publication_of_all(bool after_barrier) noexcept;

    // Returns true if a running context seems to have private forks.
    bool sees_private_forks() const noexcept;

    // Moves the older half of the run queue of `victim` to the own queue. Returns false if the
    // queue is empty, or in use by another thread.
    bool steal_tasks(worker& victim) noexcept;
    // Moves all ready tasks of `victim`, but no new ones, to the own queue. Returns their number:
    // zero if there are none, or if another thread uses the queue.
    std::uint32_t steal_ready(worker& victim) noexcept;
    // Moves a task with a soft affinity from the pinned queue of `victim` to the own queue. Without
    // `even_stale` it skips wakeups that are probably stale. Returns false if there is no such
    // task.
    bool steal_from_pinned(worker& victim, bool even_stale) noexcept;

private:
    bool steal_fork_of_worker(worker& victim) noexcept;
    // Looks at all other workers, usually first at those of the own domain.
    [[gnu::cold]] bool steal_fork_by_distance() noexcept;
    fork_slot* take_fork_from(context& victim, worker* owner) noexcept;
    bool steal_fork_from(context& victim, worker* owner) noexcept;
    void leave_to_worker(fork_slot& taken) noexcept;
    void run_stolen(fork_slot& slot) noexcept;
    void run_stolen_detached(fork_slot& slot) noexcept;
    class forced_batch;
    bool force_publication(forced_batch& batch, bool all) noexcept;
    std::uint32_t keep_stolen(run_queue::batch& stolen) noexcept;
    void announce_stolen(std::uint32_t queued) noexcept;

    worker& me_;
};

} // namespace sennit::sched
