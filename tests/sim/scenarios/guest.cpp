// SPDX-License-Identifier: Apache-2.0
// The main thread runs its call in the place of a parked worker: src/core/worker/guest_thread.cpp.
#include "engine.hpp"
#include "ground/ground.hpp"

#include "core/idle/timers.hpp"
#include "core/worker/worker_loan.hpp"
#include "sennit/detail/core/now.hpp"

namespace {

using namespace sennit::sched;

constexpr const char* steps = "guest_thread.cpp worker_loan.hpp idle_search.cpp idle_search.hpp "
                              "idle_map.hpp parker.hpp runtime_core.cpp runtime_core.hpp";

// An alarm that sets an event.
struct alarm_clock : timer {
    alarm_clock() {
        deadline_ns = now_ns() + 1'000'000;
        expire = [](timer& self) noexcept -> waiter* {
            static_cast<alarm_clock&>(self).rang.set();
            return nullptr;
        };
    }
    event rang;
};

// A task for one worker: two forks, of which the first blocks the thread until the second has run.
struct forker : runnable {
    forker(sennit::runtime& where, unsigned worker, event& until)
        : runnable([](runnable* self) noexcept {
              auto& me = *static_cast<forker*>(self);
              sennit::fork_join([] {}, [] {}); // Answers the first request.
              sennit::fork_join([&] { me.met.wait(); }, [&] { me.met.set(); });
              me.ended.set();
          }),
          met(until) {
        affinity = where.core().affinity_to(worker);
    }
    event& met;
    event ended;
};

// The address of the hot line of the thread that runs this code.
const void* this_line() {
    return sennit::sys::tls_identity();
}

} // namespace

// After the guest's call, the worker's own thread runs what is posted.
SIM_SCENARIO_WITHIN(guest, worker_continues_after_guest, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sim::allow_guests();
    sim::var<int> calls{0};
    one.run([&] { calls = calls + 1; });
    sim::check(calls == 1, "the call has run");
    errand next;
    sennit::sched::schedule(next, one->core());
    next.done.wait();
}

// A post that finds no parked worker, because the only one is lent, relies on the guest's last
// look.
SIM_SCENARIO_WITHIN(guest, post_meets_guest_that_leaves, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = steps) {
    engine one(1);
    sim::allow_guests();
    errand work;
    sim::thread poster([&] { sennit::sched::schedule(work, one->core()); });
    one.run([] {});
    work.done.wait();
    poster.join();
}

// A call leaves a task behind in the worker's own queue.
SIM_SCENARIO_WITHIN(guest, call_leaves_task_behind, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = steps) {
    engine one(1);
    sim::allow_guests();
    errand work;
    one.run([&] { sennit::sched::spawn(work, one->core()); });
    work.done.wait();
}

// A worker continues a call that waits, and the guest's thread sleeps until the call has ended.
SIM_SCENARIO_WITHIN(guest, call_that_waits_goes_to_worker, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = steps) {
    engine one(1);
    sim::allow_guests();
    errand work;
    sim::var<int> result{0};
    const void* const mine = this_line();
    one.run([&] {
        sennit::sched::spawn(work, one->core());
        work.done.wait();
        sim::check(this_line() != mine, "the worker's own thread continues the call");
        result = 1;
    });
    sim::check(result == 1, "the call has ended");
}

// Two calls one after the other, and a third from a thread that may be no guest.
SIM_SCENARIO_WITHIN(guest, guests_come_and_go, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = steps) {
    engine one(1);
    sim::allow_guests();
    sim::var<int> count{0};
    sim::thread other([&] { one.run([&] { count = count + 1; }); });
    for (int i = 0; i < 2; ++i) one.run([&] { count = count + 1; });
    other.join();
    sim::check(count == 3, "each call has run once");
}

// The guest's fork is found by a worker that parks while the guest comes.
SIM_SCENARIO_WITHIN(guest, fork_of_guest_is_found, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = steps) {
    engine two(2);
    sim::allow_guests();
    errand work;
    sim::thread poster([&] { sennit::sched::schedule(work, two->core()); });
    event met;
    two.run([&] { sennit::fork_join([&] { met.wait(); }, [&] { met.set(); }); });
    work.done.wait();
    poster.join();
}

// A worker parks while there is a guest, and sends its request to the guest's line. The worker that
// was lent then forks.
SIM_SCENARIO_WITHIN(guest, fork_after_guest_is_found, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = steps) {
    engine two(2);
    sim::allow_guests();
    event unused, met;
    unused.set();
    forker begins(*two, 0, unused), answers(*two, 0, unused), forks(*two, 0, met);
    errand beside;
    beside.affinity = two->core().affinity_to(1);
    sim::calmly([&] { // Each worker then knows the progress of the other one.
        schedule(beside, two->core());
        schedule(begins, two->core());
        beside.done.wait();
        begins.ended.wait();
    });
    (void)two->core().wake_worker(1); // It searches for a while.
    schedule(answers, two->core());
    answers.ended.wait();
    two.run([] {});
    schedule(forks, two->core());
    forks.ended.wait();
}

// A busy worker's fork that only a look after a barrier shows. The guest is the last one that
// looks.
SIM_SCENARIO_WITHIN(guest, guest_that_leaves_finds_private_fork, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = "guest_thread.cpp worker_loan.hpp fork_stack.cpp steal_fork.cpp "
                                  "worker_tls.hpp idle_search.cpp ground.cpp") {
    engine two(2);
    sim::allow_guests();
    event met;
    forker busy(*two, 1, met);
    schedule(busy, two->core());
    two.run([] {});
    busy.ended.wait();
}

// A guest that waits for a stolen child runs forks of that child.
SIM_SCENARIO_WITHIN(guest, guest_runs_forks_of_its_stolen_child, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = "guest_thread.cpp fork_stack.cpp steal_fork.cpp "
                                  "advance_split.hpp worker_tls.hpp one_shot.cpp") {
    engine two(2);
    sim::allow_guests();
    sim::var<int> first{0}, second{0}, third{0};
    two.run([&] {
        sennit::fork_join(
            [&] { first = first + 1; },
            [&] { sennit::fork_join([&] { second = second + 1; }, [&] { third = third + 1; }); });
    });
    sim::check(first == 1 && second == 1 && third == 1, "each child has run once");
}

// The thief of the guest's child goes on to another task. The guest runs no fork of that one: the
// task might lock a mutex that the caller of `run` holds.
SIM_SCENARIO_WITHIN(guest, guest_runs_no_fork_of_another_task, .preemptions = 3, .stale_reads = 0,
                    .preempt_in = "guest_thread.cpp fork_stack.cpp steal_fork.cpp one_shot.cpp") {
    engine two(2);
    sim::allow_guests();
    const void* const mine = this_line();
    struct stranger : runnable {
        explicit stranger(const void* line)
            : runnable([](runnable* self) noexcept {
                  auto& me = *static_cast<stranger*>(self);
                  const auto look = [&me] {
                      sim::check(this_line() != me.guest, "the guest runs its own call only");
                  };
                  sennit::fork_join(look, [&] { sennit::fork_join(look, look); });
                  me.ended.set();
              }),
              guest(line) {}
        const void* guest;
        event ended;
    } other(mine);
    bool follows = false;
    event stolen;
    two.run([&] {
        if (this_line() != mine) return; // The call was posted.
        sennit::fork_join([&] { stolen.wait(); },
                          [&] {
                              stolen.set();
                              follows = true;
                              schedule(other, two->core()); // This worker takes it next.
                          });
    });
    if (follows) other.ended.wait();
}

// The owner, a guest and a waker: only one thread uses the worker at a time.
SIM_SCENARIO(guest, worker_is_used_by_one_thread_at_a_time) {
    worker_loan loan;
    parker own_parker;
    idle_map map;
    sim::var<int> uses{0};
    sim::thread owner([&] {
        uses = uses + 1;
        own_parker.announce();
        map.set(0);
        uses = uses + 1;
        loan.offer();
        own_parker.sleep();
        loan.end_offer();
        uses = uses + 1;
    });
    sim::thread waker([&] {
        while (!map.clear(0)) sennit::sys::yield_thread();
        own_parker.notify();
    });
    if (loan.is_offered() && map.clear(0)) {
        sim::check(loan.is_offered(), "an owner that offers sleeps");
        loan.borrow();
        uses = uses + 1;
        map.set(0);
        uses = uses + 1;
        loan.give_back();
    }
    waker.join();
    owner.join();
}

// A timer is armed while a guest comes or leaves.
SIM_SCENARIO_WITHIN(guest, timer_meets_guest, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = "guest_thread.cpp worker_loan.hpp idle_search.cpp timers.cpp "
                                  "timers.hpp idle_map.hpp parker.hpp runtime_core.hpp") {
    engine one(1);
    sim::allow_guests();
    alarm_clock alarm;
    sim::thread other([&] { arm(alarm, one->core()); });
    one.run([] {});
    other.join();
    alarm.rang.wait();
    (void)disarm(alarm, one->core());
}

// A timer that the guest's call arms is due while the call blocks the guest's thread: another
// worker has to lead.
SIM_SCENARIO_WITHIN(guest, timer_of_blocked_guest_is_due, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = "guest_thread.cpp worker_loan.hpp idle_search.cpp timers.cpp "
                                  "timers.hpp idle_map.hpp parker.hpp runtime_core.hpp") {
    engine two(2);
    sim::allow_guests();
    alarm_clock alarm;
    two.run([&] {
        arm(alarm, two->core());
        alarm.rang.wait(); // blocks the thread
    });
    (void)disarm(alarm, two->core());
}
