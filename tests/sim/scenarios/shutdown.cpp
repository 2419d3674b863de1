// SPDX-License-Identifier: Apache-2.0
// The start and end of a runtime: src/core/runtime/runtime_core.cpp. The ends are explored here.
#include "engine.hpp"

#include "sennit/event.hpp"

#include <optional>

SIM_SCENARIO_WITHIN(shutdown, unused_runtime_ends, .preemptions = 2, .stale_reads = 1) {
    sennit::runtime runtime({.workers = 1, .stack_size = small_stack});
}

SIM_SCENARIO_WITHIN(shutdown, two_workers_end, .preemptions = 2, .stale_reads = 0) {
    sennit::runtime runtime({.workers = 2, .stack_size = small_stack, .max_spare_workers = 0});
}

// The workers are parked, or about to park, when the end comes.
SIM_SCENARIO_WITHIN(shutdown, end_wakes_parked_workers, .preemptions = 2, .stale_reads = 1) {
    std::unique_ptr<sennit::runtime> two;
    sim::calmly([&] {
        two = std::make_unique<sennit::runtime>(sennit::runtime_options{
            .workers = 2, .stack_size = small_stack, .max_spare_workers = 0});
    });
    (void)two->run([] { return 1; });
    two.reset();
}

// All workers are parked. The first that is woken for the end parks again before the next wake-up,
// which then chooses it again.
SIM_SCENARIO_WITHIN(shutdown, ending_worker_wakes_next, .preemptions = 3, .stale_reads = 0,
                    .preempt_in = "idle_search.cpp idle_map.hpp parker.hpp runtime_core.cpp") {
    std::unique_ptr<sennit::runtime> two;
    sim::calmly([&] {
        two = std::make_unique<sennit::runtime>(sennit::runtime_options{
            .workers = 2, .stack_size = small_stack, .max_spare_workers = 0});
        two->run([] {});
    });
    two.reset();
}

// A task that was scheduled before the end runs before the end.
SIM_SCENARIO_WITHIN(shutdown, submitted_task_runs_before_end, .preemptions = 2, .stale_reads = 0) {
    struct job : sennit::sched::runnable {
        sim::var<int> runs{0};
        job() : runnable([](runnable* self) noexcept { static_cast<job*>(self)->runs = 1; }) {}
    } work;
    {
        sennit::runtime runtime({.workers = 1, .stack_size = small_stack});
        sennit::sched::schedule(work, runtime.core());
    }
    sim::check(work.runs == 1, "the task has run");
}

// A task schedules another task after the end was requested.
SIM_SCENARIO_WITHIN(shutdown, task_scheduled_by_task_runs_before_end, .preemptions = 2,
                    .stale_reads = 0) {
    struct job : sennit::sched::runnable {
        sim::var<int> runs{0};
        job* next;
        sennit::sched::runtime_core* core = nullptr;
        explicit job(job* n)
            : runnable([](runnable* self) noexcept {
                  auto* me = static_cast<job*>(self);
                  me->runs = 1;
                  if (me->next) sennit::sched::schedule(*me->next, *me->core);
              }),
              next(n) {}
    } second(nullptr), first(&second);
    {
        sennit::runtime runtime({.workers = 2, .stack_size = small_stack, .max_spare_workers = 0});
        first.core = &runtime.core();
        sennit::sched::schedule(first, runtime.core());
    }
    sim::check(first.runs == 1 && second.runs == 1, "both tasks have run");
}

// The thread that woke the last strand may still be inside the runtime when that strand has ended.
SIM_SCENARIO_WITHIN(shutdown, end_waits_for_thread_that_woke_last_strand, .preemptions = 2,
                    .stale_reads = 1) {
    std::optional<sennit::runtime> one;
    sim::calmly([&] {
        one.emplace(sennit::runtime_options{
            .workers = 1, .stack_size = small_stack, .max_spare_workers = 0});
    });
    sennit::event set;
    sim::thread setter([&] { set.set(); });
    one->run([&] { set.wait(); });
    one.reset();
    setter.join();
}
