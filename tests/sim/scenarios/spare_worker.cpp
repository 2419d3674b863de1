// SPDX-License-Identifier: Apache-2.0
// Reliefs: src/core/spare/spare_worker.cpp. The scenarios are the watchdog.
#include "engine.hpp"
#include "threads.hpp"

#include "core/spare/watchdog.hpp"

#include <array>
#include <optional>

namespace {

void call(engine& one) {
    bool refused = false;
    sim::check(one->core().activate_spare(refused), "a relief comes");
}

// A thread that runs what blocks a worker's thread until `end`. It has begun when this has been
// made.
class kept_worker {
public:
    kept_worker(engine& one, event& end)
        : thread_([&] {
              one.run([&] {
                  begun_.set();
                  end.wait();
              });
          }) {
        begun_.wait();
    }
    void join() { thread_.join(); }

private:
    event begun_;
    sim::thread thread_;
};

} // namespace

// The only worker is blocked, and what would free it lies in its queue.
SIM_SCENARIO_BOTH_WAYS(spare_worker, runs_what_lies_behind_a_stuck_worker, .preemptions = 2,
                       .stale_reads = 1) {
    engine one(1, 1);
    one.run([&] {
        event ran;
        setter work(ran);
        sennit::sched::spawn(work, one->core());
        call(one);
        ran.wait(); // blocks the thread
    });
}

// What only it may run is posted while it is sent back, or when it has been: it runs that before it
// waits.
SIM_SCENARIO_WITHIN(
    spare_worker, runs_what_is_bound_to_it, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "spare_worker.cpp worker.hpp idle.cpp shared_queue.hpp runtime_core.cpp") {
    engine one(1, 1);
    sim::calmly([&] { call(one); });
    sennit::sched::worker& spare = one->core().worker_at(1);
    sim::thread watchdog([&] { one->core().release_spare(spare); });
    event ran;
    setter work(ran);
    work.affinity = spare.affinity();
    one->core().post(work);
    ran.wait();
    watchdog.join();
}

// It is sent back while it looks for work, runs some, or goes to bed: nothing is lost. Everywhere,
// two preemptions take more than 250 seconds.
SIM_SCENARIO_WITHIN(
    spare_worker, is_sent_back_at_any_moment, .preemptions = 2, .stale_reads = 0,
    .preempt_in =
        "spare_worker.cpp worker.cpp worker.hpp idle.cpp idle_map.hpp parker.hpp run_queue.hpp") {
    engine one(1, 1);
    sim::thread watchdog([&] {
        call(one);
        one->core().release_spare(one->core().worker_at(1));
    });
    one.run([&] {
        errand work;
        sennit::scope children;
        children.spawn([&] { sennit::sched::yield(); });
        sennit::sched::spawn(work, one->core());
        children.join();
        work.done.wait();
    });
    watchdog.join();
}

// The one that is sent back was chosen for what lies in the shared queue: another one that sleeps
// takes its place. `errands`: how many pieces it has run before, as the turn in which it looks
// whether it is sent back may be its next.
namespace {
void send_back_one_that_was_woken(unsigned errands) {
    engine one(1, 2);
    event ran;
    setter work(ran);
    std::optional<kept_worker> blocks;
    std::array<errand, 3> before;
    sim::calmly([&] {
        blocks.emplace(one, ran);
        call(one);
        call(one);
    });
    for (unsigned i = 0; i < errands; ++i)
        sim::calmly([&] { sennit::sched::schedule(before[i], one->core()); });
    sim::thread watchdog([&] { one->core().release_spare(one->core().worker_at(1)); });
    sennit::sched::schedule(work, one->core());
    watchdog.join();
    blocks->join();
}
} // namespace
SIM_SCENARIO_WITHIN(
    spare_worker, sent_back_when_it_was_woken_for_work, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "spare_worker.cpp worker.cpp idle.cpp idle_map.hpp parker.hpp runtime_core.hpp") {
    send_back_one_that_was_woken(0);
}
SIM_SCENARIO_WITHIN(
    spare_worker, sent_back_when_it_was_woken_for_its_global_poll, .preemptions = 2,
    .stale_reads = 0,
    .preempt_in = "spare_worker.cpp worker.cpp idle.cpp idle_map.hpp parker.hpp runtime_core.hpp") {
    send_back_one_that_was_woken(2);
}

// In small: sent back while it goes to bed. Either it sees that, or its bit is taken and it is
// woken.
SIM_SCENARIO_WITHIN(spare_worker, does_not_sleep_on_when_sent_back, .preemptions = 3,
                    .stale_reads = 2) {
    sennit::sched::parker own_parker;
    sennit::sched::idle_map map;
    sennit::base::atomic<std::uint32_t> active{1};
    sim::thread watchdog([&] {
        active.store(0);
        if (map.clear(0)) own_parker.notify();
    });
    park_in_small(own_parker, map, [&] { return active.load() == 0; });
    sim::check(active.load() == 0, "it was woken for that");
    watchdog.join();
}

// In small: a sleeper that has not seen the relief is seen by it.
SIM_SCENARIO_WITHIN(spare_worker, is_seen_by_sleepers_or_sees_them, .preemptions = 3,
                    .stale_reads = 2) {
    sennit::sched::parker own_parker;
    sennit::sched::idle_map map;
    sennit::base::atomic<std::uint32_t> workers{1};
    sennit::base::atomic<std::uint32_t> work{0};
    workers.store(1);
    sim::thread watchdog([&] {
        workers.store(2);
        sim::thread spare([&] {
            work.store(1);
            if (map.take_any(1) == 0) own_parker.notify();
        });
        spare.join();
    });
    park_in_small(own_parker, map, [&] { return workers.load() == 2 && work.load() == 1; });
    sim::check(work.load() == 1, "who wakes finds the work");
    watchdog.join();
}

// ---- a runtime that grows and shrinks

// It shrinks while work is posted from outside, and its first worker does not get on: nothing is
// lost, whoever goes.
SIM_SCENARIO_WITHIN(
    spare_worker, a_runtime_shrinks_while_work_comes, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "spare_worker.cpp worker.cpp idle.cpp idle_map.hpp parker.hpp runtime_core.hpp") {
    engine one(1, 0, 2);
    event ran;
    setter work(ran);
    std::optional<kept_worker> blocks;
    sim::calmly([&] {
        blocks.emplace(one, ran);
        one->resize(3);
    });
    sim::thread smaller([&] { one->resize(2); });
    sennit::sched::schedule(work, one->core());
    smaller.join();
    blocks->join();
    sim::check(one->workers() == 2, "it has shrunk");
}

// One grows it, another one shrinks it, while there is work for two. In all files of the other
// scenarios there are 5,300,000 executions.
SIM_SCENARIO_WITHIN(spare_worker, a_runtime_grows_and_shrinks_at_once, .preemptions = 2,
                    .stale_reads = 0, .preempt_in = "spare_worker.cpp idle_map.hpp parker.hpp") {
    engine one(1, 0, 1);
    sim::thread larger([&] { one->resize(2); });
    sim::thread smaller([&] { one->resize(1); });
    one.run([&] {
        errand work;
        sennit::sched::spawn(work, one->core());
        sennit::sched::yield();
        work.done.wait();
    });
    larger.join();
    smaller.join();
}

// ---- the watchdog's looks

namespace {

// Looks, one after the other, at any moments; then one whenever nobody else can go on, until
// `over`. Two looks tell that a worker is stuck, the next one calls a relief: so few are enough,
// and after them a program that still waits is found.
void look_until(engine& one, const sennit::base::atomic<std::uint32_t>& over,
                unsigned at_any_moment) {
    for (unsigned i = 0; i < at_any_moment; ++i) sennit::sched::watchdog::look_at(one->core());
    for (unsigned i = 0; i < 8 && over.load() == 0; ++i) {
        sleep_until(soon());
        sennit::sched::watchdog::look_at(one->core());
    }
}

// A piece of work that puts another one, which would free it, behind itself, and blocks its thread.
struct puts_one_behind : sennit::sched::runnable {
    puts_one_behind(engine& on, sennit::sched::runnable& what, event& until)
        : runnable([](runnable* self) noexcept {
              auto& me = *static_cast<puts_one_behind*>(self);
              sennit::sched::spawn(me.behind, me.one->core());
              me.freed.wait();
              me.done.finish();
          }),
          one(on), behind(what), freed(until) {}
    engine& one;
    sennit::sched::runnable& behind;
    event& freed;
    sennit::sched::one_shot done;
};

// The first worker is blocked. The other one is told to leave, and picks a piece of work before it
// sees that, or while it does: what lies behind that piece is in the sight of the watchdog.
template <class F>
void leaves_work_behind(engine& one, F&& tell_to_leave) {
    event ran;
    setter frees(ran);
    puts_one_behind work(one, frees, ran);
    sennit::base::atomic<std::uint32_t> over{0};
    std::optional<kept_worker> blocks;
    sim::calmly([&] { blocks.emplace(one, ran); });
    sim::thread watchdog([&] {
        tell_to_leave();
        look_until(one, over, 0);
    });
    sennit::sched::schedule(work, one->core());
    work.done.wait();
    over.store(1);
    blocks->join();
    watchdog.join();
}

} // namespace

SIM_SCENARIO_WITHIN(spare_worker, sent_back_it_blocks_with_work_behind_it, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = "spare_worker.cpp worker.cpp idle.cpp idle_map.hpp parker.hpp") {
    engine one(1, 2);
    sim::calmly([&] { call(one); });
    leaves_work_behind(one, [&] { one->core().release_spare(one->core().worker_at(1)); });
}
SIM_SCENARIO_WITHIN(spare_worker, a_worker_that_resize_sends_away_blocks_with_work_behind_it,
                    .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "spare_worker.cpp worker.cpp idle.cpp idle_map.hpp parker.hpp") {
    engine one(1, 1, 1);
    sim::calmly([&] { one->resize(2); });
    leaves_work_behind(one, [&] { one->resize(1); });
}

// The looks call reliefs and send them back at any moments, as workers come to be stuck and free
// again.
SIM_SCENARIO_WITHIN(spare_worker, the_watchdog_looks_at_any_moment, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = "watchdog.cpp spare_worker.cpp worker.cpp idle.cpp") {
    engine one(1, 1);
    sennit::base::atomic<std::uint32_t> over{0};
    sim::thread watchdog([&] { look_until(one, over, 3); });
    one.run([&] {
        event ran;
        setter frees(ran);
        sennit::sched::spawn(frees, one->core());
        ran.wait(); // blocks the thread
        errand work;
        sennit::sched::spawn(work, one->core());
        work.done.wait();
    });
    over.store(1);
    watchdog.join();
}

// ---- who always has something ready

// One worker is blocked, with what would free it in its queue; the other one has a fiber that
// yields for ever: no worker sleeps, and the watchdog is off. It looks at the other's queue all the
// same.
SIM_SCENARIO_WITHIN(spare_worker, a_worker_that_never_searches_helps, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = "worker.cpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    engine two(2);
    event yields, ran;
    setter work(ran);
    sennit::base::atomic<std::uint32_t> freed{0};
    sim::thread other([&] {
        two.run([&] {
            yields.set();
            while (freed.load() == 0) {
                sennit::sched::yield();
                sennit::sys::cpu_relax(); // lets the explorer go on with others
            }
        });
    });
    two.run([&] {
        yields.wait(); // on the other worker, or this one would not be here
        sennit::sched::spawn(work, two->core());
        ran.wait(); // blocks the thread
        freed.store(1);
    });
    other.join();
}
