// SPDX-License-Identifier: Apache-2.0
// Timers: arming against the timer leader's sleep, disarming against expiry:
// src/core/idle/timers.hpp, src/core/idle/idle_search.cpp.
//
// In the explorer, time passes only while no thread can continue. So a deadline for which a worker
// sleeps never hides a failure, and a deadline for which no worker sleeps is a deadlock.
#include "engine.hpp"

#include "core/idle/parker.hpp"
#include "core/idle/timers.hpp"
#include "sennit/detail/core/now.hpp"

namespace {

using namespace sennit::sched;

constexpr std::int64_t shortly = 1'000'000; // ns
constexpr std::int64_t later = 100'000'000; // ns

// Counts its expiries and announces the first.
struct bell : timer {
    explicit bell(std::int64_t deadline) {
        deadline_ns = deadline;
        expire = [](timer& self) noexcept -> waiter* {
            auto& me = static_cast<bell&>(self);
            me.rings = me.rings + 1;
            me.rang.set();
            return nullptr;
        };
    }
    sim::var<int> rings{0};
    event rang;
};

// A task that blocks its worker's thread until it is told to end.
struct blocker : runnable {
    blocker()
        : runnable([](runnable* self) noexcept {
              auto& me = static_cast<blocker&>(*self);
              me.begun.set();
              me.end.wait();
          }) {}
    event begun, end;
};

// Waits until all other threads wait.
void let_others_go_on() {
    sim::world& all = sim::world::the();
    while (all.others_ready()) all.yield(sim::place::current());
}

} // namespace

SIM_SCENARIO_WITHIN(timers, worker_sleeps_for_timer_armed_from_outside, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    bell first(now_ns() + shortly);
    arm(first, one->core());
    first.rang.wait();
    sim::check(!disarm(first, one->core()) && first.rings == 1, "the timer has expired once");
}

// The timer leader sleeps for the later deadline, or is about to.
SIM_SCENARIO_WITHIN(timers, earlier_deadline_wakes_timer_leader, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    bell late(now_ns() + later);
    bell early(now_ns() + shortly);
    arm(late, one->core());
    arm(early, one->core());
    early.rang.wait();
    sim::check(disarm(late, one->core()) || late.rings == 1,
               "the later timer has expired, or is disarmed");
    sim::check(now_ns() < later, "the earlier timer did not wait for the later deadline");
}

SIM_SCENARIO_WITHIN(timers, disarm_races_expiry, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    bell first(now_ns()); // due immediately
    arm(first, one->core());
    const bool in_time = disarm(first, one->core());
    sim::check(in_time == (first.rings == 0),
               "the timer has expired if and only if it was not disarmed");
}

// Worker 0, which is woken first, is the timer leader, and has no timer yet when it is woken for a
// task. Worker 1 sleeps without a deadline.
SIM_SCENARIO_WITHIN(timers, timer_without_leader_finds_leader, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sim::calmly([&] {
        blocker first, second;
        schedule(first, two->core());
        first.begun.wait();
        schedule(second, two->core());
        second.begun.wait();
        first.end.set();
        let_others_go_on();
        second.end.set();
        let_others_go_on();
    });
    bell timer(now_ns() + shortly);
    two.run([&] {
        arm(timer, two->core());
        timer.rang.wait(); // blocks the thread
    });
    sim::check(!disarm(timer, two->core()) && timer.rings == 1, "the timer has expired once");
}

// The timer leader is woken for a task that does not end soon: another worker becomes the leader.
SIM_SCENARIO_WITHIN(timers, timer_lead_is_passed_on, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    bell timer(now_ns() + shortly);
    sim::calmly([&] { arm(timer, two->core()); });
    two.run([&] { timer.rang.wait(); }); // blocks the thread
    sim::check(!disarm(timer, two->core()) && timer.rings == 1, "the timer has expired once");
}

namespace {

// The timer leader itself immediately runs a task that a timer has woken, and that task does not
// end before the next timer: another worker becomes the leader. Before that, the workers run a
// chosen number of other tasks. The number decides whether the clock read that finds the first
// timer belongs to a global poll.
void what_a_timer_wakes_does_not_end(int picks) {
    struct starter : timer {
        explicit starter(runnable& first) : work(first) {
            fire = [](timer& self) noexcept {
                auto& me = static_cast<starter&>(self);
                schedule(me.work, *me.where);
            };
        }
        runnable& work;
        runtime_core* where = nullptr;
    };
    bell second(never);
    blocker work;
    starter first(work);
    engine two(2);
    first.where = &two->core();
    sim::calmly([&] {
        for (int i = 0; i < picks; ++i) two.run([] {});
        second.deadline_ns = now_ns() + later;
        first.deadline_ns = now_ns() + shortly;
        arm(second, two->core());
        arm(first, two->core());
    });
    second.rang.wait();
    work.end.set();
    sim::check(second.rings == 1, "the timer has expired once");
}

} // namespace

SIM_SCENARIO_WITHIN(timers, task_woken_by_timer_in_global_poll_delays_no_timer, .preemptions = 2,
                    .stale_reads = 1) {
    what_a_timer_wakes_does_not_end(0);
}

SIM_SCENARIO_WITHIN(timers, task_woken_by_timer_delays_no_timer, .preemptions = 2,
                    .stale_reads = 1) {
    what_a_timer_wakes_does_not_end(1);
}

// A small model: a thread arms a timer while a worker is about to become the leader.
SIM_SCENARIO_WITHIN(timers, arming_thread_sees_timer_leader_or_is_seen, .preemptions = 3,
                    .stale_reads = 2) {
    timers clock;
    parker own_parker;
    bell timer(now_ns() + shortly);
    own_parker.announce();
    sim::thread keeper([&] {
        sim::check(clock.try_become_leader(0), "there is no leader yet");
        if (clock.next_ns() == never) own_parker.sleep();
        clock.release_lead();
        sim::check(clock.next_ns() != never, "a woken leader finds the deadline");
    });
    if (clock.arm(timer) == 0) own_parker.notify();
    keeper.join();
    sim::check(clock.disarm(timer), "the timer is armed");
}

// Two threads read the clock concurrently while a third disarms.
SIM_SCENARIO_WITHIN(timers, two_threads_expire_timer_while_third_disarms, .preemptions = 2,
                    .stale_reads = 1) {
    timers clock;
    bell first(0), second(0);
    (void)clock.arm(first);
    (void)clock.arm(second);
    bool in_time = false;
    sim::thread looker([&] { clock.expire(now_ns()); });
    sim::thread other([&] { clock.expire(now_ns()); });
    in_time = clock.disarm(first);
    looker.join();
    other.join();
    sim::check(first.rings == (in_time ? 0 : 1) && second.rings == 1,
               "each timer has expired once, or was disarmed");
    sim::check(clock.next_ns() == never, "no timer is armed");
}
