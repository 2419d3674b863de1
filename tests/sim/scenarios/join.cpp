// SPDX-License-Identifier: Apache-2.0
// A parent that waits for a stolen child, and the word that connects them:
// sennit/detail/core/one_shot.hpp.
#include "engine.hpp"

#include "sennit/detail/core/one_shot.hpp"

SIM_SCENARIO_WITHIN(join, thread_waits_for_finisher, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::one_shot done;
    sim::var<int> data{0};
    sim::thread finisher([&] {
        data = 42;
        done.finish();
    });
    done.wait();
    sim::check(data == 42, "the write before finish is visible");
    finisher.join();
}

SIM_SCENARIO_WITHIN(join, failure_reaches_waiter, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::one_shot done;
    sim::var<int> data{0};
    sim::thread finisher([&] {
        data = 7;
        done.finish(true);
    });
    while (!done.finished()) sennit::sys::cpu_relax();
    sim::check(done.failed() && data == 7, "the failure and the write before it are visible");
    finisher.join();
}

// The word is destroyed right after wait has returned: the finisher must not touch it then.
SIM_SCENARIO_WITHIN(join, word_may_be_destroyed_after_wait, .preemptions = 3, .stale_reads = 1) {
    auto done = std::make_unique<sennit::sched::one_shot>();
    sim::thread finisher([word = done.get()] { word->finish(); });
    done->wait();
    done.reset();
    finisher.join();
}

// The child is certainly stolen. The parent suspends, finds the child finished, or installs its
// waiter too late.
SIM_SCENARIO_WITHIN(join, parent_suspends_for_stolen_child, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    event stolen;
    sim::var<int> data{0};
    two.run([&] {
        sennit::fork_join([&] { stolen.wait(); },
                          [&] {
                              stolen.set();
                              data = 42;
                          });
        sim::check(data == 42, "the write of the child is visible");
    });
}

// A context of the runtime waits for a thread outside the runtime.
SIM_SCENARIO_WITHIN(join, context_waits_for_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::sched::one_shot done;
    sim::var<int> data{0};
    sim::thread outside([&] {
        data = 42;
        done.finish();
    });
    one.run([&] {
        done.wait();
        sim::check(data == 42, "the write before finish is visible");
    });
    outside.join();
}

SIM_SCENARIO_WITHIN(join, exception_of_stolen_child_arrives, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    event stolen;
    bool caught = false;
    two.run([&] {
        try {
            sennit::fork_join([&] { stolen.wait(); },
                              [&] {
                                  stolen.set();
                                  throw failure();
                              });
        } catch (const failure&) {
            caught = true;
        }
    });
    sim::check(caught, "the exception arrived");
}

// The first child throws while the second is being stolen: the second is dropped or waited for,
// never both.
SIM_SCENARIO_WITHIN(join, exception_races_steal, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    bool caught = false;
    sim::var<int> runs{0};
    two.run([&] {
        try {
            sennit::fork_join([&]() -> int { throw failure(); },
                              [&] {
                                  runs = runs + 1;
                                  return 1;
                              });
        } catch (const failure&) {
            caught = true;
        }
        sim::check(runs <= 1, "a dropped child does not run");
    });
    sim::check(caught, "the exception arrived");
}

// Both children suspend in turn: different workers switch the context out and resume it.
SIM_SCENARIO_WITHIN(join, context_moves_between_workers, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    sennit::base::atomic<int> count{0};
    two.run([&] {
        sennit::fork_join(
            [&] {
                sennit::sched::yield();
                count.fetch_add(1);
            },
            [&] {
                sennit::sched::yield();
                count.fetch_add(1);
            });
    });
    sim::check(count.load() == 2, "both children have run");
}
