// SPDX-License-Identifier: Apache-2.0
// Timers: arming against the keeper's sleep, disarming against expiry: src/core/idle/timers.hpp,
// src/core/idle/idle.cpp.
//
// In the explorer time passes only while nobody else can go on. So a deadline that somebody sleeps
// for never makes a failure hide; one that nobody sleeps for is a deadlock.
#include "engine.hpp"

#include "core/idle/parker.hpp"
#include "core/idle/timers.hpp"
#include "sennit/detail/core/now.hpp"

namespace {

using namespace sennit::sched;

constexpr std::int64_t shortly = 1'000'000; // ns
constexpr std::int64_t later = 100'000'000; // ns

// Counts its expiries and tells of the first.
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

// Work that blocks its worker's thread until it is told to end.
struct blocker : runnable {
    blocker()
        : runnable([](runnable* self) noexcept {
              auto& me = static_cast<blocker&>(*self);
              me.begun.set();
              me.end.wait();
          }) {}
    event begun, end;
};

// Until all others wait.
void let_others_go_on() {
    sim::world& all = sim::world::the();
    while (all.others_ready()) all.yield(sim::place::current());
}

} // namespace

SIM_SCENARIO_WITHIN(timers, a_timer_armed_from_outside_is_slept_for, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    bell first(now_ns() + shortly);
    arm(first, one->core());
    first.rang.wait();
    sim::check(!disarm(first, one->core()) && first.rings == 1, "it has rung once");
}

// The keeper sleeps for the later one, or is just about to.
SIM_SCENARIO_WITHIN(timers, an_earlier_deadline_wakes_the_timer_leader, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    bell late(now_ns() + later);
    bell early(now_ns() + shortly);
    arm(late, one->core());
    arm(early, one->core());
    early.rang.wait();
    sim::check(disarm(late, one->core()) || late.rings == 1, "the later one has rung, or will not");
    sim::check(now_ns() < later, "the earlier one did not wait for the later one");
}

SIM_SCENARIO_WITHIN(timers, disarming_meets_expiry, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    bell first(now_ns()); // due at once
    arm(first, one->core());
    const bool in_time = disarm(first, one->core());
    sim::check(in_time == (first.rings == 0), "it has rung if and only if it was not disarmed");
}

// Worker 0, which is woken first, keeps, and has no timer yet when it is woken for work; worker 1
// sleeps without an end.
SIM_SCENARIO_WITHIN(timers, a_timer_without_a_leader_finds_one, .preemptions = 2,
                    .stale_reads = 1) {
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
    sim::check(!disarm(timer, two->core()) && timer.rings == 1, "it has rung once");
}

// The keeper is woken for work that does not end soon: somebody else keeps from then on.
SIM_SCENARIO_WITHIN(timers, the_timer_lead_is_passed_on, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    bell timer(now_ns() + shortly);
    sim::calmly([&] { arm(timer, two->core()); });
    two.run([&] { timer.rang.wait(); }); // blocks the thread
    sim::check(!disarm(timer, two->core()) && timer.rings == 1, "it has rung once");
}

namespace {

// The keeper runs what a timer has woken, itself and at once, and that does not end before the next
// timer: somebody else keeps from then on. Before that the workers pick so many other things, so
// that the look at the clock at which it meets the first timer is, or is not, that of a fair turn.
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
    sim::check(second.rings == 1, "it has rung once");
}

} // namespace

SIM_SCENARIO_WITHIN(timers, what_a_timer_wakes_in_a_global_poll_holds_up_no_timer, .preemptions = 2,
                    .stale_reads = 1) {
    what_a_timer_wakes_does_not_end(0);
}

SIM_SCENARIO_WITHIN(timers, what_a_timer_wakes_holds_up_no_timer, .preemptions = 2,
                    .stale_reads = 1) {
    what_a_timer_wakes_does_not_end(1);
}

// Who arms against who is about to keep, in small.
SIM_SCENARIO_WITHIN(timers, who_arms_sees_the_timer_leader_or_is_seen, .preemptions = 3,
                    .stale_reads = 2) {
    timers clock;
    parker own_parker;
    bell timer(now_ns() + shortly);
    own_parker.announce();
    sim::thread keeper([&] {
        sim::check(clock.try_become_leader(0), "there is none yet");
        if (clock.next_ns() == never) own_parker.sleep();
        clock.release_lead();
        sim::check(clock.next_ns() != never, "who wakes finds the deadline");
    });
    if (clock.arm(timer) == 0) own_parker.notify();
    keeper.join();
    sim::check(clock.disarm(timer), "it is armed");
}

// Two look at the clock at the same time, one disarms.
SIM_SCENARIO_WITHIN(timers, two_expire_what_a_third_disarms, .preemptions = 2, .stale_reads = 1) {
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
               "each has rung once, or was disarmed");
    sim::check(clock.next_ns() == never, "nothing is armed");
}
