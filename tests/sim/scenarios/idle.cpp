// SPDX-License-Identifier: Apache-2.0
// Sleep and wake: src/sched/README.md, src/sched/idle.cpp, src/sched/parker.hpp.
#include "engine.hpp"

#include "sched/idle_map.hpp"
#include "sched/parker.hpp"

namespace {

// Work that says when it has run.
struct job : sennit::sched::runnable {
    job() : runnable([](runnable* self) noexcept { static_cast<job*>(self)->done.finish(); }) {}
    sennit::sched::one_shot done;
};

} // namespace

SIM_SCENARIO_WITHIN(idle, a_token_is_not_lost, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::parker bed;
    sim::var<int> data{0};
    bed.announce();
    sim::thread waker([&] {
        data = 1;
        bed.notify();
    });
    bed.sleep();
    sim::check(data == 1, "what came before the token is seen");
    waker.join();
}

// The whole protocol in small: a poster and a sleeper with one bit and one word of work.
SIM_SCENARIO_WITHIN(idle, a_post_is_seen_or_wakes, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::parker bed;
    sennit::sched::idle_map map;
    sennit::base::atomic<int> work{0};
    sim::thread poster([&] {
        work.store(1);
        if (map.take_any(1) == 0) bed.notify();
    });
    bed.announce();
    map.set(0);
    if (work.load() != 0) {
        if (map.clear(0))
            bed.cancel();
        else
            bed.sleep();
    } else {
        bed.sleep();
    }
    sim::check(work.load() == 1, "who wakes finds the work");
    poster.join();
}

SIM_SCENARIO_WITHIN(idle, each_bit_is_taken_once, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::idle_map map;
    map.set(1);
    sennit::base::atomic<int> taken{0};
    sim::in_threads(2, [&](unsigned me) {
        if (me == 0 ? map.clear(1) : map.take_any(2) == 1) taken.fetch_add(1);
    });
    sim::check(taken.load() == 1, "one of the two got it");
}

SIM_SCENARIO_BOTH_WAYS(idle, a_post_from_outside_wakes_a_sleeper, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    job work;
    sennit::sched::schedule(work, one->core());
    work.done.wait();
}

// One preemption: with two it has more than 1.9 million executions.
SIM_SCENARIO_BOTH_WAYS(idle, two_posters_from_outside, .preemptions = 1, .stale_reads = 1) {
    engine two(2);
    job first, second;
    sim::in_threads(2, [&](unsigned me) { sennit::sched::schedule(me == 0 ? first : second, two->core()); });
    first.done.wait();
    second.done.wait();
}

// The poster's own worker is busy for ever: somebody else must come.
SIM_SCENARIO_BOTH_WAYS(idle, a_post_from_inside_wakes_another_worker, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    two.run([&] {
        event ran;
        struct setter : sennit::sched::runnable {
            event* target;
            explicit setter(event& e)
                : runnable([](runnable* self) noexcept { static_cast<setter*>(self)->target->set(); }), target(&e) {}
        } work(ran);
        sennit::sched::spawn(work, two->core());
        ran.wait(); // blocks the thread
    });
}

// Worker 1 has fallen asleep before the thread of worker 0 ran for the first time, and so could not ask it.
SIM_SCENARIO_WITHIN(idle, a_worker_that_starts_late_shares_its_first_fork, .preemptions = 2, .stale_reads = 1) {
    std::unique_ptr<sennit::runtime> two;
    sim::calmly([&] {
        sim::world::the().hold_next_thread();
        two = std::make_unique<sennit::runtime>(sennit::runtime_options{.workers = 2, .stack_size = small_stack});
    });
    sim::calmly([] { sim::world::the().release_threads(); });
    event met;
    two->run([&] { sennit::fork_join([&] { met.wait(); }, [&] { met.set(); }); });
    sim::calm_from_here();
}

// Three workers: whoever takes a piece wakes the next to search in its place. One preemption: that is
// 155,000 executions of 900 steps already.
SIM_SCENARIO_WITHIN(idle, many_pieces_wake_many_workers, .preemptions = 1, .stale_reads = 1) {
    engine three(3);
    sennit::base::atomic<int> here{0};
    event all;
    three.run([&] {
        sennit::fork_each(3, [&](std::size_t) {
            if (here.fetch_add(1) == 2) all.set();
            all.wait(); // blocks the thread: three workers are needed
        });
    });
}
