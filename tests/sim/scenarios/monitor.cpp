// SPDX-License-Identifier: Apache-2.0
// monitor, condition, waitfor: sennit/monitor.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/monitor.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <optional>

namespace {

struct part : sennit::monitor {
    sim::var<int> count{0};
    void step() {
        auto in = sennit::enter<&part::step>(*this);
        count = count + 1;
    }
};
void both(part& a, part& b) {
    auto in = sennit::enter<&both>(a, b);
    a.count = a.count + 1;
    b.count = b.count + 1;
}

// A monitor scope whose end the scenario chooses.
struct scope {
    explicit scope(part& of) : in(sennit::enter(of)) {}
    sennit::inside<1> in;
};

} // namespace

SIM_SCENARIO_WITHIN(monitor, monitor_admits_one_thread_at_a_time, .preemptions = 2,
                    .stale_reads = 2) {
    part one;
    sim::in_threads(2, [&](unsigned) {
        one.step();
        one.step();
    });
    sim::check(one.count == 4, "all threads have been inside");
}

SIM_SCENARIO_WITHIN(monitor, three_threads_contend, .preemptions = 2, .stale_reads = 1) {
    part one;
    sim::in_threads(3, [&](unsigned) { one.step(); });
    sim::check(one.count == 3, "all threads have been inside");
}

SIM_SCENARIO_WITHIN(monitor, two_monitors_are_entered_in_either_order, .preemptions = 2,
                    .stale_reads = 1) {
    part a, b;
    sim::in_threads(2, [&](unsigned i) { i == 0 ? both(a, b) : both(b, a); });
    sim::check(a.count == 2 && b.count == 2, "both threads have been inside both monitors");
}

// The first order of three arguments against every other.
namespace {
void meet(std::array<unsigned, 3> other) {
    std::array<part, 3> all;
    sim::in_threads(2, [&](unsigned i) {
        const std::array<unsigned, 3> order = i == 0 ? std::array{0u, 1u, 2u} : other;
        auto in = sennit::enter(all[order[0]], all[order[1]], all[order[2]]);
        for (auto& each : all) each.count = each.count + 1;
    });
    for (auto& each : all)
        sim::check(each.count == 2, "both threads have been inside all monitors");
}
} // namespace
SIM_SCENARIO_WITHIN(monitor, three_as_0_1_2_and_as_0_2_1, .preemptions = 2, .stale_reads = 0) {
    meet({0u, 2u, 1u});
}
SIM_SCENARIO_WITHIN(monitor, three_as_0_1_2_and_as_1_0_2, .preemptions = 2, .stale_reads = 0) {
    meet({1u, 0u, 2u});
}
SIM_SCENARIO_WITHIN(monitor, three_as_0_1_2_and_as_1_2_0, .preemptions = 2, .stale_reads = 0) {
    meet({1u, 2u, 0u});
}
SIM_SCENARIO_WITHIN(monitor, three_as_0_1_2_and_as_2_0_1, .preemptions = 2, .stale_reads = 0) {
    meet({2u, 0u, 1u});
}
SIM_SCENARIO_WITHIN(monitor, three_as_0_1_2_and_as_2_1_0, .preemptions = 2, .stale_reads = 0) {
    meet({2u, 1u, 0u});
}

// Four monitors in the first order against all 23 other orders.
namespace {
void meet_four(unsigned other) { // its digits are the order
    std::array<part, 4> all;
    sim::in_threads(2, [&](unsigned i) {
        const unsigned order = i == 0 ? 123 : other;
        auto in = sennit::enter(all[order / 1000], all[order / 100 % 10], all[order / 10 % 10],
                                all[order % 10]);
        for (auto& each : all) each.count = each.count + 1;
    });
    for (auto& each : all)
        sim::check(each.count == 2, "both threads have been inside all monitors");
}
} // namespace
#define MEET_FOUR(name, other)                                                                     \
    SIM_SCENARIO_WITHIN(monitor, four_as_0123_and_as_##name, .preemptions = 2, .stale_reads = 0) { \
        meet_four(other);                                                                          \
    }
MEET_FOUR(0132, 132)
MEET_FOUR(0213, 213)
MEET_FOUR(0231, 231)
MEET_FOUR(0312, 312)
MEET_FOUR(0321, 321)
MEET_FOUR(1023, 1023)
MEET_FOUR(1032, 1032)
MEET_FOUR(1203, 1203)
MEET_FOUR(1230, 1230)
MEET_FOUR(1302, 1302)
MEET_FOUR(1320, 1320)
MEET_FOUR(2013, 2013)
MEET_FOUR(2031, 2031)
MEET_FOUR(2103, 2103)
MEET_FOUR(2130, 2130)
MEET_FOUR(2301, 2301)
MEET_FOUR(2310, 2310)
MEET_FOUR(3012, 3012)
MEET_FOUR(3021, 3021)
MEET_FOUR(3102, 3102)
MEET_FOUR(3120, 3120)
MEET_FOUR(3201, 3201)
MEET_FOUR(3210, 3210)
#undef MEET_FOUR

// Three threads, each with its own order: no two threads enter the monitors in the same order, and
// all six orders take part.
namespace {
void three_meet(const std::array<std::array<unsigned, 3>, 3>& orders) {
    std::array<part, 3> all;
    sim::in_threads(3, [&](unsigned i) {
        auto in = sennit::enter(all[orders[i][0]], all[orders[i][1]], all[orders[i][2]]);
        for (auto& each : all) each.count = each.count + 1;
    });
    for (auto& each : all) sim::check(each.count == 3, "all threads have been inside all monitors");
}
} // namespace
SIM_SCENARIO_WITHIN(monitor, three_threads_in_turned_orders, .preemptions = 2, .stale_reads = 0) {
    three_meet({{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}});
}
SIM_SCENARIO_WITHIN(monitor, three_threads_in_swapped_orders, .preemptions = 2, .stale_reads = 0) {
    three_meet({{{2, 1, 0}, {1, 0, 2}, {0, 2, 1}}});
}

// Overlapping pairs: a thread that waits for one monitor holds another.
SIM_SCENARIO_WITHIN(monitor, overlapping_pairs_do_not_deadlock, .preemptions = 2,
                    .stale_reads = 0) {
    part a, b, c;
    sim::in_threads(3, [&](unsigned i) {
        if (i == 0) both(a, b);
        if (i == 1) both(c, b);
        if (i == 2) both(a, c);
    });
    sim::check(a.count == 2 && b.count == 2 && c.count == 2, "each pair has been inside");
}

SIM_SCENARIO_WITHIN(monitor, signal_races_waiter, .preemptions = 2, .stale_reads = 1) {
    part one;
    sennit::condition changed{one};
    bool set = false; // guarded by the monitor
    sim::thread waiter([&] {
        auto in = sennit::enter(one);
        if (!set) changed.wait();
        sim::check(set, "the thread that set the flag has signalled");
        one.count = one.count + 1;
    });
    {
        auto in = sennit::enter(one);
        set = true;
        changed.signal();
        one.count = one.count + 1;
    }
    waiter.join();
    sim::check(one.count == 2, "both threads have been inside");
}

// Two fibers that pass the monitor on by a switch from one to the other, while a thread wants it,
// too.
SIM_SCENARIO_WITHIN(monitor, two_fibers_pass_monitor_on, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    part it;
    sennit::condition changed{it};
    int turn = 0; // guarded by the monitor
    const auto play = [&](int me) {
        auto in = sennit::enter(it);
        for (int round = 0; round < 2; ++round) {
            while (turn != me) changed.wait();
            it.count = it.count + 1;
            turn = 1 - me;
            changed.signal();
        }
    };
    sim::thread other([&] { it.step(); });
    one.run([&] { sennit::fiber first([&] { play(0); }), second([&] { play(1); }); });
    other.join();
    sim::check(it.count == 5, "each thread has had its turns");
}

// Two fibers pass two monitors on, of which the thread wants one. A fiber that leaves must wake an
// entrant in both monitors, in the second only, or in none.
SIM_SCENARIO_WITHIN(monitor, two_fibers_pass_two_monitors_on, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    part a, b;
    sennit::condition changed{a, b};
    int turn = 0; // guarded by both
    const auto play = [&](int me) {
        auto in = sennit::enter(a, b);
        while (turn != me) changed.wait();
        a.count = a.count + 1;
        b.count = b.count + 1;
        turn = 1 - me;
        changed.signal();
        if (me == 0) changed.wait();
    };
    sim::thread other([&] { b.step(); });
    one.run([&] { sennit::fiber first([&] { play(0); }), second([&] { play(1); }); });
    other.join();
    sim::check(a.count == 2 && b.count == 3, "each thread has had its turns");
}

// No thread enters between the signal and the waiter, although one tries to.
SIM_SCENARIO_WITHIN(monitor, no_thread_enters_between_signal_and_waiter, .preemptions = 2,
                    .stale_reads = 0) {
    part one;
    sennit::condition changed{one};
    bool signalled = false, between = false; // guarded by the monitor
    std::optional<scope> in;
    in.emplace(one);
    sim::thread signaller([&] {
        auto mine = sennit::enter(one);
        signalled = changed.signal();
        sim::check(signalled, "there is a waiter");
    });
    sim::thread barger([&] {
        auto mine = sennit::enter(one);
        between = signalled;
    });
    changed.wait();
    sim::check(signalled && !between, "no thread has been inside since the signal");
    signalled = false;
    in.reset();
    signaller.join();
    barger.join();
}

SIM_SCENARIO_WITHIN(monitor, wait_on_two_monitors_reacquires_both, .preemptions = 2,
                    .stale_reads = 0) {
    part a, b;
    sennit::condition changed{a, b};
    bool set = false; // guarded by both
    sim::thread waiter([&] {
        auto in = sennit::enter(a, b);
        if (!set) changed.wait();
        a.count = a.count + 1;
        b.count = b.count + 1;
    });
    sim::thread other([&] { b.step(); });
    {
        auto in = sennit::enter(b, a);
        set = true;
        changed.signal();
        a.count = a.count + 1;
    }
    waiter.join();
    other.join();
    sim::check(a.count == 2 && b.count == 2, "each thread has been inside its monitors");
}

SIM_SCENARIO_WITHIN(monitor, signal_races_deadline, .preemptions = 2, .stale_reads = 0) {
    part one;
    sennit::condition changed{one};
    const time_point when = soon();
    bool woken = false, signalled = false;
    sim::thread waiter([&] {
        auto in = sennit::enter(one);
        woken = changed.wait_until(when);
        one.count = one.count + 1;
    });
    sleep_until(when);
    {
        auto in = sennit::enter(one);
        signalled = changed.signal();
        one.count = one.count + 1;
    }
    waiter.join();
    sim::check(one.count == 2 && woken == signalled, "both sides report the same end of the wait");
}

SIM_SCENARIO_WITHIN(monitor, call_races_acceptor, .preemptions = 2, .stale_reads = 1) {
    part one;
    std::optional<scope> in;
    in.emplace(one);
    sim::thread caller([&] { one.step(); });
    sim::check(sennit::waitfor(sennit::accept<&part::step>(one)) == 0, "the call was accepted");
    sim::check(one.count == 1, "the accepted call ran first");
    in.reset();
    caller.join();
}

SIM_SCENARIO_WITHIN(monitor, two_calls_race_one_acceptor, .preemptions = 2, .stale_reads = 0) {
    part one;
    {
        auto in = sennit::enter(one);
        sim::thread first([&] { one.step(); });
        sim::thread second([&] { one.step(); });
        sennit::waitfor(sennit::accept<&part::step>(one));
        sim::check(one.count == 1, "one call ran first");
        sennit::waitfor(sennit::accept<&part::step>(one));
        sim::check(one.count == 2, "then the other call ran");
        first.join();
        second.join();
    }
}

SIM_SCENARIO_WITHIN(monitor, call_on_two_monitors_races_acceptor, .preemptions = 2,
                    .stale_reads = 0) {
    part a, b;
    {
        auto in = sennit::enter(a, b);
        sim::thread one([&] { both(b, a); });
        sennit::waitfor(sennit::accept<&both>(a, b), sennit::accept<&part::step>(a));
        sim::check(a.count == 1 && b.count == 1, "the accepted call ran first in both monitors");
        one.join();
    }
}

SIM_SCENARIO_WITHIN(monitor, call_races_acceptor_deadline, .preemptions = 2, .stale_reads = 0) {
    part one;
    const time_point when = soon();
    sim::thread caller([&] {
        sleep_until(when);
        one.step();
    });
    {
        auto in = sennit::enter(one);
        const bool came = sennit::waitfor(sennit::accept<&part::step>(one),
                                          sennit::timeout(std::chrono::milliseconds(1))) == 0;
        sim::check(one.count == (came ? 1 : 0), "the call ran if and only if it was accepted");
    }
    caller.join();
    sim::check(one.count == 1, "the call has run");
}

// Both calls come before the deadline, the second when the first is already accepted. (Before a
// fix, the second call overwrote, without having been accepted, the word that the first one relied
// on, and the acceptor slept on.)
SIM_SCENARIO_WITHIN(monitor, two_calls_race_acceptor_with_deadline, .preemptions = 2,
                    .stale_reads = 0) {
    part one;
    std::optional<scope> in;
    in.emplace(one);
    sim::thread first([&] { one.step(); });
    sim::thread second([&] { one.step(); });
    const bool came = sennit::waitfor(sennit::accept<&part::step>(one),
                                      sennit::timeout(std::chrono::hours(1))) == 0;
    sim::check(came && one.count == 1, "one call ran first");
    in.reset();
    first.join();
    second.join();
    sim::check(one.count == 2, "then the other call ran");
}

SIM_SCENARIO_WITHIN(monitor, destructor_is_accepted_once, .preemptions = 2, .stale_reads = 0) {
    auto one = std::make_unique<part>();
    sim::var<int> gone{0};
    std::optional<scope> in;
    in.emplace(*one);
    sim::thread destroyer([&] {
        {
            auto last = sennit::enter_destructor(*one);
        }
        gone = 1;
    });
    sim::check(sennit::waitfor(sennit::accept_destructor(*one)) == 0, "the call was accepted");
    one->count = 1; // this thread is still inside
    in.reset();
    destroyer.join();
    sim::check(gone == 1, "the destructor continued then");
}
