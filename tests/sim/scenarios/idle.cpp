// SPDX-License-Identifier: Apache-2.0
// Parking and waking: src/core/README.md, src/core/idle/idle_search.cpp, src/core/idle/parker.hpp.
#include "engine.hpp"

namespace {

// A task that sets `sets`, and blocks its worker's thread until `waits_for` is set.
struct exchange : sennit::sched::runnable {
    exchange(event& give, event& take)
        : runnable([](runnable* self) noexcept {
              auto& me = *static_cast<exchange*>(self);
              me.gives.set();
              me.takes.wait();
              me.done.finish();
          }),
          gives(give), takes(take) {}
    event& gives;
    event& takes;
    sennit::sched::one_shot done;
};

// A task whose worker has one further task in its queue and blocks its thread until that task has
// run. With `calm`, the blocking has begun when the call returns: a parked worker is then the
// sentinel.
struct hostess : sennit::sched::runnable {
    hostess(engine& of, sennit::sched::runnable& guest, event& until)
        : runnable([](runnable* self) noexcept {
              auto& me = *static_cast<hostess*>(self);
              sennit::sched::spawn(me.piece, me.all->core());
              me.end.wait();
              me.done.finish();
          }),
          all(of), piece(guest), end(until) {}
    engine& all;
    sennit::sched::runnable& piece;
    event& end;
    sennit::sched::one_shot done;
};

// A task that blocks its worker's thread until an event is set.
struct blocker : sennit::sched::runnable {
    explicit blocker(event& until)
        : runnable([](runnable* self) noexcept {
              auto& me = *static_cast<blocker*>(self);
              me.end.wait();
              me.done.finish();
          }),
          end(until) {}
    event& end;
    sennit::sched::one_shot done;
};

// A parked worker is the sentinel for one task. A second task comes, and each of the two needs the
// other to run.
template <class F>
void call_the_watcher_away(F before) {
    engine three(3);
    event watched_runs, other_runs, end;
    exchange watched(watched_runs, other_runs);
    exchange other(other_runs, watched_runs);
    hostess host(three, watched, end);
    sim::calmly([&] { sennit::sched::schedule(host, three->core()); });
    before();
    sennit::sched::schedule(other, three->core());
    watched.done.wait();
    other.done.wait();
    end.set();
    host.done.wait();
}

} // namespace

SIM_SCENARIO_WITHIN(idle, token_is_not_lost, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::parker own_parker;
    sim::var<int> data{0};
    own_parker.announce();
    sim::thread waker([&] {
        data = 1;
        own_parker.notify();
    });
    own_parker.sleep();
    sim::check(data == 1, "the write before the token is visible");
    waker.join();
}

// A small model of the whole protocol: a poster and a sleeper with one bit and one word of work.
SIM_SCENARIO_WITHIN(idle, post_is_seen_or_wakes_sleeper, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::parker own_parker;
    sennit::sched::idle_map map;
    sennit::base::atomic<int> work{0};
    sim::thread poster([&] {
        work.store(1);
        if (map.take_any(1) == 0) own_parker.notify();
    });
    park_in_small(own_parker, map, [&] { return work.load() != 0; });
    sim::check(work.load() == 1, "a woken sleeper finds the work");
    poster.join();
}

SIM_SCENARIO_WITHIN(idle, idle_bit_is_taken_once, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::idle_map map;
    map.set(1);
    sennit::base::atomic<int> taken{0};
    sim::in_threads(2, [&](unsigned me) {
        if (me == 0 ? map.clear(1) : map.take_any(2) == 1) taken.fetch_add(1);
    });
    sim::check(taken.load() == 1, "one of the two took the bit");
}

SIM_SCENARIO_BOTH_WAYS(idle, external_post_wakes_sleeper, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    errand work;
    sennit::sched::schedule(work, one->core());
    work.done.wait();
}

// No stale reads: with one stale read there are more than a million executions.
SIM_SCENARIO_BOTH_WAYS(idle, two_external_posts_wake_workers, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    errand first, second;
    sim::in_threads(
        2, [&](unsigned me) { sennit::sched::schedule(me == 0 ? first : second, two->core()); });
    first.done.wait();
    second.done.wait();
}

// The poster's own worker stays busy: another worker must take the task.
SIM_SCENARIO_BOTH_WAYS(idle, worker_post_wakes_another_worker, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    two.run([&] {
        event ran;
        setter work(ran);
        sennit::sched::spawn(work, two->core());
        ran.wait(); // blocks the thread
    });
}

// Worker 1 has parked before the thread of worker 0 ran for the first time, so worker 1 could not
// send it a steal request.
SIM_SCENARIO_WITHIN(idle, late_worker_shares_first_fork, .preemptions = 2, .stale_reads = 1) {
    std::unique_ptr<sennit::runtime> two;
    sim::calmly([&] {
        sim::world::the().hold_next_thread();
        two = std::make_unique<sennit::runtime>(sennit::runtime_options{
            .workers = 2, .stack_size = small_stack, .max_spare_workers = 0});
    });
    sim::calmly([] { sim::world::the().release_threads(); });
    event met;
    two->run([&] { sennit::fork_join([&] { met.wait(); }, [&] { met.set(); }); });
    sim::calm_from_here();
}

// The sentinel, the lowest of the parked workers, is woken for a task that needs the task that the
// sentinel watches.
SIM_SCENARIO_WITHIN(idle, woken_sentinel_is_replaced, .preemptions = 2, .stale_reads = 0) {
    call_the_watcher_away([] {});
}

// The sentinel's poll comes due and it steals. Meanwhile another post has chosen it for a wake-up:
// another worker must come for that post.
SIM_SCENARIO_WITHIN(
    idle, stealing_sentinel_passes_token_on, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "idle_search.cpp idle_search.hpp idle_map.hpp parker.hpp ground.cpp") {
    call_the_watcher_away([] { sim::sleep_with_the_next(); });
}

// The sentinel's poll comes due, it steals, and the stolen task blocks it. The remaining tasks need
// another sentinel.
SIM_SCENARIO_WITHIN(
    idle, stealing_sentinel_is_replaced, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "idle_search.cpp idle_search.hpp idle_map.hpp parker.hpp ground.cpp") {
    engine four(4);
    event a, b, end;
    exchange first(a, b), second(b, a);
    hostess one(four, first, end), two(four, second, end);
    sim::calmly([&] {
        sennit::sched::schedule(one, four->core());
        sennit::sched::schedule(two, four->core());
    });
    first.done.wait();
    second.done.wait();
    end.set();
    one.done.wait();
    two.done.wait();
}

// While there is a sentinel, a lone task wakes no worker. The sentinel stops at that moment.
void end_a_watch_while_a_lone_task_comes() {
    engine two(2);
    event ran, seen, begin;
    event never_mind;
    setter first(never_mind), second(ran);
    struct body : sennit::sched::runnable {
        body() : runnable([](runnable* self) noexcept { static_cast<body*>(self)->run_it(); }) {}
        void run_it() {
            sennit::sched::spawn(*first, *core);
            seen->wait();
            sennit::sched::yield(); // the piece runs here
            begin->wait();
            sennit::sched::spawn(*second, *core);
            ran->wait(); // blocks the thread
            done.finish();
        }
        sennit::sched::runtime_core* core;
        setter *first, *second;
        event *seen, *begin, *ran;
        sennit::sched::one_shot done;
    } all;
    all.core = &two->core();
    all.first = &first;
    all.second = &second;
    all.seen = &seen;
    all.begin = &begin;
    all.ran = &ran;
    // The sentinel watches the first task.
    sim::calmly([&] { sennit::sched::schedule(all, two->core()); });
    sim::calmly([&] {
        seen.set();
        sim::sleep_with_the_next(); // the sentinel polls, and sees no task
    });
    sim::sleep_with_the_next(); // the sentinel polls again
    begin.set();
    all.done.wait();
}
SIM_SCENARIO_WITHIN(idle, end_of_sentinel_races_lone_task, .preemptions = 2, .stale_reads = 0) {
    end_a_watch_while_a_lone_task_comes();
}

// The look after the watch sees a task that is still in the store buffer of its poster.
SIM_SCENARIO_WITHIN(idle, look_after_watch_sees_late_push, .preemptions = 2, .stale_reads = 2) {
    end_a_watch_while_a_lone_task_comes();
}

// Two thieves are needed: the first thief wakes the second, which force-publishes the owner's next
// fork.
SIM_SCENARIO_WITHIN(
    idle, thief_wakes_next_thief, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "fork_stack.cpp steal_fork.cpp advance_split.hpp worker_tls.hpp idle_search.cpp "
                  "idle_search.hpp idle_map.hpp parker.hpp ground.cpp") {
    engine three(3);
    sennit::base::atomic<int> here{0};
    event all;
    const auto meet = [&] {
        if (here.fetch_add(1) == 2) all.set();
        all.wait(); // blocks the thread
    };
    three.run([&] { sennit::fork_join([&] { sennit::fork_join(meet, meet); }, meet); });
}

// Three workers: a worker that takes a task wakes the next worker to search in its place. With
// preemptions everywhere there are more than a million executions of 1,000 steps.
SIM_SCENARIO_WITHIN(idle, many_tasks_wake_many_workers, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "fork_stack.cpp steal_fork.cpp advance_split.hpp idle_map.hpp") {
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

// One worker takes a task while the other parks and relies on it. The task forks, and the fork has
// to become public.
SIM_SCENARIO_WITHIN(idle, fork_of_last_searcher_is_seen, .preemptions = 2, .stale_reads = 0,
                    .preempt_in =
                        "idle_search.cpp idle_search.hpp idle_map.hpp parker.hpp runtime_core.hpp "
                        "runtime_core.cpp fork_stack.cpp steal_fork.cpp ground.cpp") {
    engine two(2);
    errand first;
    sim::calmly([&] { two.run([] { sennit::fork_join([] {}, [] {}); }); });
    sennit::sched::schedule(first, two->core());
    first.done.wait();
    event met;
    two.run([&] { sennit::fork_join([&] { met.wait(); }, [&] { met.set(); }); });
}

// The last searcher parks without a barrier and misses a push that saw no request. Its late look
// finds the fork.
SIM_SCENARIO_WITHIN(idle, late_look_finds_late_push, .preemptions = 2, .stale_reads = 2,
                    .preempt_in =
                        "fork_stack.cpp steal_fork.cpp advance_split.hpp worker_tls.hpp worker.hpp "
                        "switching.hpp idle_search.cpp idle_search.hpp ground.cpp") {
    engine two(2);
    sim::allow_late_looks();
    event met;
    two.run([&] {
        sennit::fork_join([] {}, [] {}); // answers the first request
        sennit::fork_join([&] { met.wait(); }, [&] { met.set(); });
    });
}

// The worker that owes a late look is chosen for a task that only it may run, and that blocks it
// until a fork has run which it has missed. A third worker sleeps and relies on that look.
SIM_SCENARIO_WITHIN(idle, chosen_late_looker_looks_before_its_task, .preemptions = 2,
                    .stale_reads = 1,
                    .preempt_in = "steal_fork.cpp idle_search.cpp idle_search.hpp") {
    engine three(3);
    sim::allow_late_looks();
    event met;
    blocker pinned(met);
    sennit::sched::runtime_core& core = three->core();
    three.run([&] {
        const unsigned here = sennit::sched::this_worker()->index();
        sennit::fork_join([] {}, [] {}); // answers the first request
        sennit::fork_join(
            [&] {
                pinned.affinity = core.affinity_to((here + 1) % 3);
                sennit::sched::schedule(pinned, core);
                met.wait();
            },
            [&] { met.set(); });
    });
    pinned.done.wait();
}

// A lone task, a parked worker that owes a late look, and posts from outside that choose it.
SIM_SCENARIO_WITHIN(idle, late_looker_is_chosen_by_post, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sim::allow_late_looks();
    errand work;
    two.run([&] {
        event ran;
        setter lone(ran);
        sennit::sched::spawn(lone, two->core());
        ran.wait(); // blocks the thread
    });
    sennit::sched::schedule(work, two->core());
    work.done.wait();
}
