// SPDX-License-Identifier: Apache-2.0
// Spare workers: src/core/spare/spare_worker.cpp. The scenarios play the watchdog.
#include "engine.hpp"
#include "threads.hpp"

#include "core/spare/watchdog.hpp"

#include <array>
#include <optional>

namespace {

void call(engine& one) {
    bool refused = false;
    sim::check(one->core().activate_spare(refused), "a spare worker is activated");
}

// A thread that runs a task which blocks a worker's thread until `end`. The task has begun when the
// constructor returns.
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

// The only worker is blocked, and the task that would free it lies in its queue.
SIM_SCENARIO_BOTH_WAYS(spare_worker, spare_worker_runs_tasks_behind_stuck_worker, .preemptions = 2,
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

// A task that only the spare worker may run is posted while it is released, or after that: the
// spare worker runs the task before it waits.
SIM_SCENARIO_WITHIN(spare_worker, spare_worker_runs_tasks_bound_to_it, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = "spare_worker.cpp spare_state.hpp worker.hpp idle_search.cpp "
                                  "idle_search.hpp shared_queue.hpp runtime_core.cpp") {
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

// The spare worker is released while it searches for work, runs a task, or parks: no task is lost.
// With preemptions everywhere, two preemptions take more than 250 seconds.
SIM_SCENARIO_WITHIN(
    spare_worker, spare_worker_is_released_at_any_moment, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "spare_worker.cpp spare_state.hpp worker.cpp thief.cpp worker.hpp "
                  "idle_search.cpp idle_search.hpp idle_map.hpp parker.hpp run_queue.hpp") {
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

// The released worker was chosen for a task in the injector: another parked worker takes its place.
// `errands`: the number of tasks that it has run before, because its next global poll may be the
// one in which it checks whether it is released.
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
    spare_worker, released_spare_worker_was_woken_for_task, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "spare_worker.cpp spare_state.hpp worker.cpp thief.cpp idle_search.cpp "
                  "idle_search.hpp idle_map.hpp parker.hpp runtime_core.hpp") {
    send_back_one_that_was_woken(0);
}
SIM_SCENARIO_WITHIN(spare_worker, released_spare_worker_was_woken_for_global_poll, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in =
                        "spare_worker.cpp spare_state.hpp worker.cpp thief.cpp idle_search.cpp "
                        "idle_search.hpp idle_map.hpp parker.hpp runtime_core.hpp") {
    send_back_one_that_was_woken(2);
}

// A small model: the worker is released while it parks. Either it sees the release, or its bit is
// taken and it is woken.
SIM_SCENARIO_WITHIN(spare_worker, released_spare_worker_does_not_stay_parked, .preemptions = 3,
                    .stale_reads = 2) {
    sennit::sched::parker own_parker;
    sennit::sched::idle_map map;
    sennit::base::atomic<std::uint32_t> active{1};
    sim::thread watchdog([&] {
        active.store(0);
        if (map.clear(0)) own_parker.notify();
    });
    park_in_small(own_parker, map, [&] { return active.load() == 0; });
    sim::check(active.load() == 0, "the worker was woken for the release");
    watchdog.join();
}

// A small model: a parked worker that has not seen the spare worker is seen by it.
SIM_SCENARIO_WITHIN(spare_worker, spare_worker_is_seen_by_sleepers_or_sees_them, .preemptions = 3,
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
    sim::check(work.load() == 1, "a woken sleeper finds the work");
    watchdog.join();
}

// ---- a runtime that grows and shrinks

// The runtime shrinks while tasks are posted from outside, and its first worker makes no progress:
// no task is lost, whichever worker leaves.
SIM_SCENARIO_WITHIN(
    spare_worker, runtime_shrinks_while_tasks_arrive, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "spare_worker.cpp spare_state.hpp worker.cpp thief.cpp idle_search.cpp "
                  "idle_search.hpp idle_map.hpp parker.hpp runtime_core.hpp") {
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
    sim::check(one->workers() == 2, "the runtime has shrunk");
}

// One thread grows the runtime, another thread shrinks it, while there are tasks for two workers.
// With preemptions in all files of the other scenarios there are 5,300,000 executions.
SIM_SCENARIO_WITHIN(spare_worker, runtime_grows_and_shrinks_concurrently, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = "spare_worker.cpp spare_state.hpp idle_map.hpp parker.hpp") {
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

// ---- the watchdog's checks

namespace {

// Watchdog checks, one after another, at any moments; then one check whenever no other thread can
// continue, until `over`. Two checks detect that a worker is stuck, and the next one activates a
// spare worker. So few checks suffice, and the explorer then finds a program that still waits.
void look_until(engine& one, const sennit::base::atomic<std::uint32_t>& over,
                unsigned at_any_moment) {
    for (unsigned i = 0; i < at_any_moment; ++i) sennit::sched::watchdog::look_at(one->core());
    for (unsigned i = 0; i < 8 && over.load() == 0; ++i) {
        sleep_until(soon());
        sennit::sched::watchdog::look_at(one->core());
    }
}

// A task that posts another task, which would free it, behind itself, and blocks its thread.
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

// The first worker is blocked. The other worker is released, and picks a task before it sees the
// release, or while it does. The watchdog can see the tasks behind that task.
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

SIM_SCENARIO_WITHIN(spare_worker, released_spare_worker_blocks_before_queued_task, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = "spare_worker.cpp spare_state.hpp worker.cpp thief.cpp "
                                  "idle_search.cpp idle_search.hpp idle_map.hpp parker.hpp") {
    engine one(1, 2);
    sim::calmly([&] { call(one); });
    leaves_work_behind(one, [&] { one->core().release_spare(one->core().worker_at(1)); });
}
SIM_SCENARIO_WITHIN(spare_worker, worker_retired_by_resize_blocks_before_queued_task,
                    .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "spare_worker.cpp spare_state.hpp worker.cpp thief.cpp "
                                  "idle_search.cpp idle_search.hpp idle_map.hpp parker.hpp") {
    engine one(1, 1, 1);
    sim::calmly([&] { one->resize(2); });
    leaves_work_behind(one, [&] { one->resize(1); });
}

// The watchdog activates and releases spare workers at any moments, as workers become stuck and
// free again.
SIM_SCENARIO_WITHIN(spare_worker, watchdog_checks_at_any_moment, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "watchdog.cpp spare_worker.cpp spare_state.hpp worker.cpp "
                                  "thief.cpp idle_search.cpp idle_search.hpp") {
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

// ---- a worker that always has ready tasks

// One worker is blocked, and the task that would free it lies in its queue. The other worker has a
// fiber that yields forever, so no worker parks, and the watchdog is off. The second worker still
// looks at the first worker's queue.
SIM_SCENARIO_WITHIN(
    spare_worker, busy_worker_steals_from_stuck_worker, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "worker.cpp thief.cpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    engine two(2);
    event yields, ran;
    setter work(ran);
    sennit::base::atomic<std::uint32_t> freed{0};
    sim::thread other([&] {
        two.run([&] {
            yields.set();
            while (freed.load() == 0) {
                sennit::sched::yield();
                sennit::sys::cpu_relax(); // lets the explorer run other threads
            }
        });
    });
    two.run([&] {
        // Runs on the other worker, because this fiber occupies its own worker.
        yields.wait();
        sennit::sched::spawn(work, two->core());
        ran.wait(); // blocks the thread
        freed.store(1);
    });
    other.join();
}
