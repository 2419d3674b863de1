// SPDX-License-Identifier: Apache-2.0
// Consolidation: a worker, the host, gathers the ready tasks of the others, and keeps its own.
// src/core/README.md, "Tasks that communicate". No task may be lost, or wait behind a stuck host.
#include "actor_house.hpp"
#include "engine.hpp"

#include "core/policy/consolidation_policy.hpp"

#include <array>
#include <limits>

namespace {

using sennit::sched::worker;

// Makes the calling worker the host, as after a trial, until it parks or a thief finds it stuck.
void host_here() {
    worker& me = *sennit::sched::this_worker();
    sennit::sched::consolidation& shared = me.runtime().consolidation();
    if (!shared.try_claim(me.affinity(), 0)) return;
    shared.begin_hosting(me.affinity());
    me.policies.consolidation.host_until(std::numeric_limits<std::int64_t>::max(), 0, 0);
}

constexpr bool consolidates = true;

} // namespace

// Two tasks that only another worker can run, because the host blocks its thread.
SIM_SCENARIO_BOTH_WAYS(consolidation, tasks_of_stuck_host_are_stolen, .preemptions = 2,
                       .stale_reads = 0,
                       .preempt_in = "worker.cpp consolidate.cpp thief.cpp idle_search.cpp "
                                     "run_queue.hpp biased_lock.hpp consolidation.hpp") {
    engine two(2, 0, 0, consolidates);
    two.run([&] {
        host_here();
        event first, second;
        setter one(first), other(second);
        sennit::sched::schedule(one, two->core());
        sennit::sched::schedule(other, two->core());
        first.wait(); // blocks the thread
        second.wait();
    });
}

// The host yields until the tasks of the other worker have run. That worker blocks its thread, so
// the tasks run only if the host gathers them, or steals them as a thief.
SIM_SCENARIO_WITHIN(consolidation, host_gathers_tasks_of_other_worker, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = "worker.cpp consolidate.cpp thief.cpp run_queue.hpp "
                                  "biased_lock.hpp biased_lock.cpp consolidation.hpp") {
    engine two(2, 0, 0, consolidates);
    struct crowd : sennit::sched::runnable {
        explicit crowd(engine& in)
            : runnable([](runnable* self) noexcept { static_cast<crowd*>(self)->go(); }), all(in) {}
        void go() {
            setter one(first), other(second);
            sennit::sched::schedule(one, all->core());
            sennit::sched::schedule(other, all->core());
            first.wait(); // blocks the thread
            second.wait();
            done.finish();
        }
        engine& all;
        event first, second;
        sennit::sched::one_shot done;
    } others(two);
    two.run([&] {
        host_here();
        others.affinity =
            two->core().worker_at(1 - sennit::sched::this_worker()->index()).affinity();
        two->core().post(others);
        for (int i = 0; i < 6; ++i) sennit::sched::yield();
        others.done.wait();
    });
}

// The host's queue holds a new task, which it shares, and a woken one, which it keeps.
SIM_SCENARIO_WITHIN(consolidation, host_shares_new_tasks_only, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "worker.cpp consolidate.cpp thief.cpp run_queue.hpp "
                                  "biased_lock.hpp shared_queue.hpp consolidation.hpp") {
    engine two(2, 0, 0, consolidates);
    two.run([&] {
        host_here();
        std::array<errand, 4> all;
        sennit::sched::spawn(all[0], two->core());
        sennit::sched::schedule(all[1], two->core());
        sennit::sched::spawn(all[2], two->core());
        sennit::sched::schedule(all[3], two->core());
        for (errand& one : all) one.done.wait();
    });
}

// A trial from its beginning to its end, by the counters alone: the tasks from outside are
// crossings.
SIM_SCENARIO_WITHIN(consolidation, trial_loses_no_task, .preemptions = 1, .stale_reads = 0,
                    .preempt_in = "worker.cpp consolidate.cpp thief.cpp run_queue.hpp "
                                  "shared_queue.hpp consolidation.hpp") {
    engine two(2, 0, 0, consolidates);
    std::array<errand, 3> all;
    for (errand& one : all) sennit::sched::schedule(one, two->core());
    two.run([&] {
        sennit::scope yields;
        yields.spawn([] {
            for (int i = 0; i < 8; ++i) sennit::sched::yield();
        });
        for (int i = 0; i < 8; ++i) sennit::sched::yield();
        yields.join();
    });
    for (errand& one : all) one.done.wait();
}

// The host takes an idle actor away from a worker that is awake, and that sends to the actor at the
// same time.
SIM_SCENARIO_WITHIN(consolidation, host_and_owner_send_to_one_actor, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = "mailbox.cpp mailbox_batch.cpp mailbox.hpp mailbox_owner.hpp "
                                  "mailbox_owner.cpp remote_inbox.hpp wakeup.hpp batch_state.hpp "
                                  "consolidation.hpp") {
    house all(2, 3, {}, consolidates);
    sim::thread other([&] {
        all.one.run([&] {
            host_here();
            all.actor.tell(put{1});
        });
    });
    all.one.run([&] {
        all.actor.tell(put{2});
        all.actor.tell(put{3});
    });
    all.what.enough.wait();
    other.join();
    const int sum = all.what.sum;
    sim::check(sum == 123 || sum == 213 || sum == 231, "one sender's messages stay in order");
}
