// SPDX-License-Identifier: Apache-2.0
// Sleep and wake: src/core/README.md, src/core/idle/idle.cpp, src/core/idle/parker.hpp.
#include "engine.hpp"

namespace {

// Work that sets `sets`, and blocks its worker's thread until `waits_for` is set.
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

// Of a worker that has one piece in its queue and blocks its thread until that has run. Calm, it
// has begun when this returns: then a sleeper of the others watches.
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

// A sleeper watches a piece of work; a second piece comes, and each of the two needs that the other
// runs.
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

SIM_SCENARIO_WITHIN(idle, a_token_is_not_lost, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::parker own_parker;
    sim::var<int> data{0};
    own_parker.announce();
    sim::thread waker([&] {
        data = 1;
        own_parker.notify();
    });
    own_parker.sleep();
    sim::check(data == 1, "what came before the token is seen");
    waker.join();
}

// The whole protocol in small: a poster and a sleeper with one bit and one word of work.
SIM_SCENARIO_WITHIN(idle, a_post_is_seen_or_wakes, .preemptions = 3, .stale_reads = 2) {
    sennit::sched::parker own_parker;
    sennit::sched::idle_map map;
    sennit::base::atomic<int> work{0};
    sim::thread poster([&] {
        work.store(1);
        if (map.take_any(1) == 0) own_parker.notify();
    });
    park_in_small(own_parker, map, [&] { return work.load() != 0; });
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

SIM_SCENARIO_BOTH_WAYS(idle, a_post_from_outside_wakes_a_sleeper, .preemptions = 2,
                       .stale_reads = 1) {
    engine one(1);
    errand work;
    sennit::sched::schedule(work, one->core());
    work.done.wait();
}

// No stale reads: with one it has more than a million executions.
SIM_SCENARIO_BOTH_WAYS(idle, two_posters_from_outside, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    errand first, second;
    sim::in_threads(
        2, [&](unsigned me) { sennit::sched::schedule(me == 0 ? first : second, two->core()); });
    first.done.wait();
    second.done.wait();
}

// The poster's own worker is busy for ever: somebody else must come.
SIM_SCENARIO_BOTH_WAYS(idle, a_post_from_inside_wakes_another_worker, .preemptions = 2,
                       .stale_reads = 1) {
    engine two(2);
    two.run([&] {
        event ran;
        setter work(ran);
        sennit::sched::spawn(work, two->core());
        ran.wait(); // blocks the thread
    });
}

// Worker 1 has fallen asleep before the thread of worker 0 ran for the first time, and so could not
// ask it.
SIM_SCENARIO_WITHIN(idle, a_worker_that_starts_late_shares_its_first_fork, .preemptions = 2,
                    .stale_reads = 1) {
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

// The watcher, which is the lowest of the sleepers, is called away to a piece of work that needs
// what it watches.
SIM_SCENARIO_WITHIN(idle, a_sentinel_that_is_called_away_is_replaced, .preemptions = 2,
                    .stale_reads = 0) {
    call_the_watcher_away([] {});
}

// The watcher's time is up, it robs, and meanwhile another post has chosen it: somebody else must
// come for that.
SIM_SCENARIO_WITHIN(idle, a_sentinel_that_steals_passes_its_token_on, .preemptions = 2,
                    .stale_reads = 0, .preempt_in = "idle.cpp idle_map.hpp parker.hpp ground.cpp") {
    call_the_watcher_away([] { sim::sleep_with_the_next(); });
}

// The watcher's time is up, it robs, and what it has blocks it: what else lies there needs another
// watcher.
SIM_SCENARIO_WITHIN(idle, a_sentinel_that_steals_is_replaced, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "idle.cpp idle_map.hpp parker.hpp ground.cpp") {
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

// While somebody watches, a single piece wakes nobody. It ends its watch just then.
SIM_SCENARIO_WITHIN(idle, a_watch_ends_while_a_piece_comes, .preemptions = 2, .stale_reads = 0) {
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
    sim::calmly([&] { sennit::sched::schedule(all, two->core()); }); // somebody watches the first
    sim::calmly([&] {
        seen.set();
        sim::sleep_with_the_next(); // it looks, and sees nothing
    });
    sim::sleep_with_the_next(); // it looks again
    begin.set();
    all.done.wait();
}

// Two thieves are needed: the first to steal wakes the second, which forces the owner's next fork
// out.
SIM_SCENARIO_WITHIN(
    idle, a_thief_wakes_the_next, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "fork_stack.cpp worker_tls.hpp idle.cpp idle_map.hpp parker.hpp ground.cpp") {
    engine three(3);
    sennit::base::atomic<int> here{0};
    event all;
    const auto meet = [&] {
        if (here.fetch_add(1) == 2) all.set();
        all.wait(); // blocks the thread
    };
    three.run([&] { sennit::fork_join([&] { sennit::fork_join(meet, meet); }, meet); });
}

// Three workers: whoever takes a piece wakes the next to search in its place. Preempted everywhere
// they have more than a million executions of 1,000 steps.
SIM_SCENARIO_WITHIN(idle, many_pieces_wake_many_workers, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "fork_stack.cpp idle_map.hpp") {
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
