// SPDX-License-Identifier: Apache-2.0
// A worker's own queue between its owner and thieves: src/core/queues/run_queue.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "core/idle/parker.hpp"
#include "core/queues/run_queue.hpp"
#include "sys/membarrier.hpp"

#include <array>

namespace {

using sennit::sched::run_queue;

struct piece : sennit::sched::runnable {
    piece() : runnable(nullptr) {}
    sim::var<int> runs{0};
    void go() { runs = runs + 1; }
};

void go(sennit::sched::runnable* one) {
    if (one) static_cast<piece*>(one)->go();
}
template <class F>
void each_of(run_queue::batch& stolen_batch, F&& what) {
    while (sennit::sched::runnable* one = stolen_batch.pop()) what(one);
}
void go_all(run_queue::batch& stolen_batch) {
    each_of(stolen_batch, go);
}

} // namespace

SIM_SCENARIO_BOTH_WAYS(run_queue, run_queue_gives_each_task_to_one_worker, .preemptions = 3,
                       .stale_reads = 1) {
    run_queue queue;
    std::array<piece, 2> pieces;
    sim::thread thief([&] {
        run_queue::batch stolen_batch;
        queue.steal_half(stolen_batch);
        go_all(stolen_batch);
    });
    queue.push_woken(pieces[0]);
    queue.push_spawned(pieces[1]);
    go(queue.pop());
    go(queue.pop());
    thief.join();
    go(queue.pop());
    for (const piece& one : pieces) sim::check(one.runs == 1, "each task was taken once");
    sim::check(queue.empty(), "the queue is empty");
}

// A joiner wants this task back, which a thief may have taken.
SIM_SCENARIO_BOTH_WAYS(run_queue, newest_task_is_taken_back_or_stolen, .preemptions = 3,
                       .stale_reads = 1) {
    run_queue queue;
    piece one;
    sim::thread thief([&] {
        run_queue::batch stolen_batch;
        queue.steal_half(stolen_batch);
        go_all(stolen_batch);
    });
    queue.push_spawned(one);
    const bool mine = queue.pop_newest_if(one);
    if (mine) one.go();
    thief.join();
    if (!mine) go(queue.pop());
    sim::check(one.runs == 1 && queue.empty(), "the task was taken once");
}

SIM_SCENARIO_BOTH_WAYS(run_queue, two_thieves_race_share, .preemptions = 2, .stale_reads = 1) {
    run_queue queue;
    std::array<piece, 3> pieces;
    for (piece& one : pieces) queue.push_spawned(one);
    sim::thread first([&] {
        run_queue::batch stolen_batch;
        queue.steal_half(stolen_batch);
        go_all(stolen_batch);
    });
    sim::thread second([&] {
        run_queue::batch stolen_batch;
        queue.steal_half(stolen_batch);
        go_all(stolen_batch);
    });
    run_queue::batch gift;
    queue.take_half(gift);
    go_all(gift);
    first.join();
    second.join();
    while (auto* left = queue.pop()) go(left);
    for (const piece& one : pieces) sim::check(one.runs == 1, "each task was taken once");
}

// A thief puts the stolen tasks into its own queue, from which the other thief steals in turn.
SIM_SCENARIO_BOTH_WAYS(run_queue, stolen_tasks_are_stolen_again, .preemptions = 2,
                       .stale_reads = 1) {
    std::array<run_queue, 2> queues;
    std::array<piece, 2> pieces;
    queues[0].push_woken(pieces[0]);
    const auto steal_from_other = [&](unsigned me) {
        run_queue::batch stolen_batch;
        if (queues[1 - me].steal_half(stolen_batch) != 0) queues[me].append_batch(stolen_batch);
        go(queues[me].pop());
    };
    sim::thread other([&] { steal_from_other(1); });
    queues[0].push_woken(pieces[1]);
    steal_from_other(0);
    other.join();
    for (run_queue& one : queues)
        while (auto* left = one.pop()) go(left);
    for (const piece& one : pieces) sim::check(one.runs == 1, "each task was taken once");
}

// A context that yields puts itself into the queue before it is saved: no thief may take it until
// the switch is over.
SIM_SCENARIO_BOTH_WAYS(run_queue, yielding_context_is_not_stolen_before_saved, .preemptions = 3,
                       .stale_reads = 1) {
    run_queue queue;
    piece next, self;
    sim::var<int> saved{0};
    queue.push_woken(next);
    sim::thread thief([&] {
        run_queue::batch stolen_batch;
        queue.steal_half(stolen_batch);
        each_of(stolen_batch, [&](sennit::sched::runnable* one) {
            if (one == &self) sim::check(saved == 1, "the context is saved");
            go(one);
        });
    });
    if (sennit::sched::runnable* now = queue.begin_exchange(self, nullptr)) {
        saved = 1; // the switch
        queue.end_exchange();
        go(now);
    } else {
        self.go();
    }
    thief.join();
    while (auto* left = queue.pop()) go(left);
    sim::check(next.runs == 1 && self.runs == 1, "each task was taken once");
}

// A small model of the owner's push against a sleeper: the push is seen, or the announcement is.
SIM_SCENARIO_BOTH_WAYS(run_queue, push_is_seen_or_sees_sleeper, .preemptions = 3,
                       .stale_reads = 2) {
    run_queue queue;
    piece one;
    sennit::base::atomic<int> announced{0};
    sennit::sched::parker own_parker;
    sim::thread sleeper([&] {
        own_parker.announce();
        announced.store(1);
        (void)sennit::sys::barrier_all_threads();
        if (queue.empty()) own_parker.sleep();
        sim::check(!queue.empty(), "a woken sleeper finds the task");
    });
    queue.push_woken(one);
    if (announced.load() != 0) own_parker.notify();
    sleeper.join();
}

// Thieves steal from a worker that makes no progress the tasks that only other workers can run.
SIM_SCENARIO_BOTH_WAYS(run_queue, tasks_of_blocked_worker_are_stolen, .preemptions = 2,
                       .stale_reads = 1) {
    engine two(2);
    struct setter : sennit::sched::runnable {
        setter()
            : runnable([](runnable* self) noexcept { static_cast<setter*>(self)->ran.set(); }) {}
        event ran;
    };
    two.run([&] {
        std::array<setter, 2> pieces;
        for (setter& one : pieces) sennit::sched::spawn(one, two->core());
        for (setter& one : pieces) one.ran.wait(); // blocks the thread
    });
}

// Three tasks in one queue, each of which blocks its worker until all run. While one thief moves
// two of them, their owner takes the third, and the other thief finds two empty queues and parks.
// No stale reads: with one stale read there are more than six million executions of 1,300 steps.
SIM_SCENARIO_BOTH_WAYS(run_queue, stolen_tasks_reach_worker_that_parked_meanwhile, .preemptions = 2,
                       .stale_reads = 0,
                       .preempt_in = "worker.cpp thief.cpp run_queue.hpp biased_lock.hpp") {
    engine three(3);
    struct meeting {
        sennit::base::atomic<int> here{0}, gone{0};
        event complete;
        sennit::sched::one_shot over;
    } all;
    struct guest : sennit::sched::runnable {
        guest()
            : runnable([](runnable* self) noexcept {
                  meeting& met = *static_cast<guest*>(self)->at;
                  if (met.here.fetch_add(1) == 2) met.complete.set();
                  met.complete.wait(); // blocks the thread
                  if (met.gone.fetch_add(1) == 2) met.over.finish();
              }) {}
        meeting* at = nullptr;
    };
    struct blocker : sennit::sched::runnable {
        blocker()
            : runnable([](runnable* self) noexcept {
                  auto& me = *static_cast<blocker*>(self);
                  me.begun.set();
                  me.end.wait(); // blocks the thread
              }) {}
        event begun, end;
    };
    std::array<guest, 3> guests;
    std::array<blocker, 2> thieves;
    sim::calmly([&] {
        for (blocker& one : thieves) {
            sennit::sched::schedule(one, three->core());
            one.begun.wait();
        }
    });
    three.run([&] {
        sennit::fork_join([] {}, [] {}); // answers the thieves' old requests
        for (guest& one : guests) {
            one.at = &all;
            sennit::sched::spawn(one, three->core()); // no worker is parked
        }
        for (blocker& one : thieves) one.end.set();
        while (sennit::sched::this_worker()->queue().size() == 3)
            // A sentinel steals from a stuck worker.
            sleep_until(soon());
        all.over.wait();
    });
}
