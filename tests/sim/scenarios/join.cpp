// SPDX-License-Identifier: Apache-2.0
// A parent that waits for a stolen child, and the word they meet at:
// sennit/detail/core/one_shot.hpp.
#include "engine.hpp"

#include "sennit/detail/core/one_shot.hpp"

SIM_SCENARIO_WITHIN(join, a_thread_waits_for_another, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::one_shot done;
    sim::var<int> data{0};
    sim::thread finisher([&] {
        data = 42;
        done.finish();
    });
    done.wait();
    sim::check(data == 42, "what came before is seen");
    finisher.join();
}

SIM_SCENARIO_WITHIN(join, a_failure_is_told, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::one_shot done;
    sim::var<int> data{0};
    sim::thread finisher([&] {
        data = 7;
        done.finish(true);
    });
    while (!done.finished()) sennit::sys::cpu_relax();
    sim::check(done.failed() && data == 7, "the failure and what came before it are seen");
    finisher.join();
}

// The word dies right after wait has returned: the finisher must not touch it then.
SIM_SCENARIO_WITHIN(join, the_word_may_die_at_once, .preemptions = 3, .stale_reads = 1) {
    auto done = std::make_unique<sennit::sched::one_shot>();
    sim::thread finisher([word = done.get()] { word->finish(); });
    done->wait();
    done.reset();
    finisher.join();
}

// The child is certainly stolen; the parent suspends, or finds it finished, or finishes installing
// too late.
SIM_SCENARIO_WITHIN(join, a_parent_suspends_for_a_stolen_child, .preemptions = 2,
                    .stale_reads = 1) {
    engine two(2);
    event stolen;
    sim::var<int> data{0};
    two.run([&] {
        sennit::fork_join([&] { stolen.wait(); },
                          [&] {
                              stolen.set();
                              data = 42;
                          });
        sim::check(data == 42, "what the child did is seen");
    });
}

// A context of the runtime waits for a thread outside of it.
SIM_SCENARIO_WITHIN(join, a_context_waits_for_a_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::sched::one_shot done;
    sim::var<int> data{0};
    sim::thread outside([&] {
        data = 42;
        done.finish();
    });
    one.run([&] {
        done.wait();
        sim::check(data == 42, "what came before is seen");
    });
    outside.join();
}

SIM_SCENARIO_WITHIN(join, a_stolen_childs_exception_arrives, .preemptions = 2, .stale_reads = 1) {
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

// The first child throws while the second is being stolen: it is dropped or waited for, never both.
SIM_SCENARIO_WITHIN(join, an_exception_against_a_steal, .preemptions = 2, .stale_reads = 1) {
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

// Both children suspend in turn: a context is left and resumed by different workers.
SIM_SCENARIO_WITHIN(join, a_context_moves_between_workers, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(count.load() == 2, "both have run");
}
