// SPDX-License-Identifier: Apache-2.0
// Tasks that enter a monitor, and wait inside: sennit/monitor/async_enter.hpp and async_wait.hpp. A
// plain thread is the other owner, or another task on a second worker.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/monitor.hpp"
#include "sennit/monitor/async_enter.hpp"
#include "sennit/task.hpp"

#include <optional>

namespace {

using sennit::task;

struct part : sennit::monitor {
    sim::var<int> count{0};
    sim::var<int> ready{0};
    sennit::condition changed{*this};
    task<> step() {
        auto in = co_await sennit::async_enter<&part::step>(*this);
        count = count + 1;
    }
    void blocking_step() {
        auto in = sennit::enter<&part::blocking_step>(*this);
        count = count + 1;
    }
    // Waits for a signal. The result is false if the limit has ended a wait.
    task<bool> wait_until_ready(time_point limit) {
        auto in = co_await sennit::async_enter(*this);
        bool signalled = true;
        while (signalled && ready == 0) {
            if (limit == time_point::max())
                co_await changed.async_wait();
            else
                signalled = co_await changed.async_wait_until(limit);
        }
        count = count + 1;
        co_return signalled;
    }
    void make_ready() {
        auto in = sennit::enter(*this);
        ready = 1;
        changed.signal();
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

// The signaller finds the task before it waits, while it leaves the monitor, or asleep.
SIM_SCENARIO_WITHIN(task, signal_meets_task_that_leaves_its_monitor, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    part shared;
    sennit::future<bool> ended;
    one.run([&] { ended = sennit::spawn(shared.wait_until_ready(time_point::max())); });
    shared.make_ready();
    sim::check(ended.get(), "the wait has no limit");
    sim::check(shared.count == 2, "both have been inside");
}

// The signal, the limit and the end of the task's sleep compete; a late task comes back inside.
SIM_SCENARIO_WITHIN(task, signal_races_limit_of_task_inside_monitor, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    part shared;
    sennit::future<bool> ended;
    one.run([&] { ended = sennit::spawn(shared.wait_until_ready(soon())); });
    shared.make_ready();
    (void)ended.get();
    sim::check(shared.count == 2, "both have been inside");
}

// The call finds the accepting task before it sleeps, or asleep. The event makes the call come
// while the task is inside.
SIM_SCENARIO_WITHIN(task, call_meets_task_that_accepts, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    part shared;
    sennit::event inside;
    sennit::future<void> ended;
    const auto accepts = [&]() -> task<> {
        auto in = co_await sennit::async_enter(shared);
        inside.set();
        co_await sennit::async_waitfor(sennit::accept<&part::blocking_step>(shared));
        sim::check(shared.count == 1, "the accepted call ran first");
    };
    one.run([&] { ended = sennit::spawn(accepts); });
    inside.wait();
    shared.blocking_step();
    ended.get();
}
