// SPDX-License-Identifier: Apache-2.0
// A runtime's birth and end: src/core/runtime/runtime_core.cpp. Ends are explored here.
#include "engine.hpp"

#include "sennit/event.hpp"

#include <optional>

SIM_SCENARIO_WITHIN(shutdown, an_unused_runtime_ends, .preemptions = 2, .stale_reads = 1) {
    sennit::runtime runtime({.workers = 1, .stack_size = small_stack});
}

SIM_SCENARIO_WITHIN(shutdown, two_workers_end, .preemptions = 2, .stale_reads = 0) {
    sennit::runtime runtime({.workers = 2, .stack_size = small_stack, .max_spare_workers = 0});
}

// Workers sleep, or are just about to, when the end comes.
SIM_SCENARIO_WITHIN(shutdown, sleepers_are_woken_for_the_end, .preemptions = 2, .stale_reads = 1) {
    std::unique_ptr<sennit::runtime> two;
    sim::calmly([&] {
        two = std::make_unique<sennit::runtime>(sennit::runtime_options{
            .workers = 2, .stack_size = small_stack, .max_spare_workers = 0});
    });
    (void)two->run([] { return 1; });
    two.reset();
}

// What was scheduled before the end runs before the end.
SIM_SCENARIO_WITHIN(shutdown, submitted_work_runs_before_the_end, .preemptions = 2,
                    .stale_reads = 0) {
    struct job : sennit::sched::runnable {
        sim::var<int> runs{0};
        job() : runnable([](runnable* self) noexcept { static_cast<job*>(self)->runs = 1; }) {}
    } work;
    {
        sennit::runtime runtime({.workers = 1, .stack_size = small_stack});
        sennit::sched::schedule(work, runtime.core());
    }
    sim::check(work.runs == 1, "it has run");
}

// Work that makes work, with the end already asked for.
SIM_SCENARIO_WITHIN(shutdown, work_that_schedules_work_runs_before_the_end, .preemptions = 2,
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
    sim::check(first.runs == 1 && second.runs == 1, "both have run");
}

// Who has made the last strand ready may be on its way out of the runtime still when that has
// ended.
SIM_SCENARIO_WITHIN(shutdown, waits_for_a_thread_that_has_woken_the_last_strand, .preemptions = 2,
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
