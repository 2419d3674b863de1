// SPDX-License-Identifier: Apache-2.0
// Tasks that enter a monitor: sennit/monitor/async_enter.hpp. A plain thread is the other owner, or
// another task on a second worker.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/monitor.hpp"
#include "sennit/monitor/async_enter.hpp"
#include "sennit/task.hpp"

#include <optional>

namespace {

using sennit::task;

struct part : sennit::monitor {
    sim::var<int> count{0};
    task<> step() {
        auto in = co_await sennit::async_enter<&part::step>(*this);
        count = count + 1;
    }
};

// A monitor scope whose end the scenario chooses.
struct scope {
    explicit scope(part& of) : in(sennit::enter(of)) {}
    sennit::inside<1> in;
};

} // namespace

// The owner leaves before the task finds the monitor taken, while the task enters the queue, or
// afterwards, and then hands the monitor over.
SIM_SCENARIO_WITHIN(task, leave_hands_monitor_to_entering_task, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    part shared;
    sennit::future<void> ended;
    std::optional<scope> in;
    in.emplace(shared);
    one.run([&] { ended = sennit::spawn(shared.step()); });
    shared.count = shared.count + 1;
    in.reset();
    ended.get();
    sim::check(shared.count == 2, "both have been inside");
}

// Two tasks on two workers: the frame of the first one may be gone when the second one continues.
SIM_SCENARIO_WITHIN(task, monitor_admits_one_task_at_a_time, .preemptions = 1, .stale_reads = 1) {
    engine two(2);
    part shared;
    sennit::future<void> first, second;
    two.run([&] {
        first = sennit::spawn(shared.step());
        second = sennit::spawn(shared.step());
    });
    first.get();
    second.get();
    sim::check(shared.count == 2, "both have been inside");
}

// The acceptor finds the entering task in the queue, or the task finds the acceptor.
SIM_SCENARIO_WITHIN(task, entering_task_races_acceptor, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    part shared;
    sennit::future<void> ended;
    std::optional<scope> in;
    in.emplace(shared);
    one.run([&] { ended = sennit::spawn(shared.step()); });
    sim::check(sennit::waitfor(sennit::accept<&part::step>(shared)) == 0, "the call was accepted");
    sim::check(shared.count == 1, "the accepted call ran first");
    in.reset();
    ended.get();
}
