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

struct scope { // one whose end is chosen
    explicit scope(part& of) : in(sennit::enter(of)) {}
    sennit::inside<1> in;
};

} // namespace

SIM_SCENARIO_WITHIN(monitor, lets_one_in_at_a_time, .preemptions = 2, .stale_reads = 2) {
    part one;
    sim::in_threads(2, [&](unsigned) {
        one.step();
        one.step();
    });
    sim::check(one.count == 4, "all have been in");
}

SIM_SCENARIO_WITHIN(monitor, three_want_it_at_once, .preemptions = 2, .stale_reads = 1) {
    part one;
    sim::in_threads(3, [&](unsigned) { one.step(); });
    sim::check(one.count == 3, "all have been in");
}

SIM_SCENARIO_WITHIN(monitor, two_are_entered_in_either_order, .preemptions = 2, .stale_reads = 1) {
    part a, b;
    sim::in_threads(2, [&](unsigned i) { i == 0 ? both(a, b) : both(b, a); });
    sim::check(a.count == 2 && b.count == 2, "both have been in both");
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
    for (auto& each : all) sim::check(each.count == 2, "both have been in all");
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

// The same with four, against all 23 others.
namespace {
void meet_four(unsigned other) { // its digits are the order
    std::array<part, 4> all;
    sim::in_threads(2, [&](unsigned i) {
        const unsigned order = i == 0 ? 123 : other;
        auto in = sennit::enter(all[order / 1000], all[order / 100 % 10], all[order / 10 % 10],
                                all[order % 10]);
        for (auto& each : all) each.count = each.count + 1;
    });
    for (auto& each : all) sim::check(each.count == 2, "both have been in all");
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

// Three threads, each in an order of its own: no two want the monitors in the same order, all six
// orders take part.
namespace {
void three_meet(const std::array<std::array<unsigned, 3>, 3>& orders) {
    std::array<part, 3> all;
    sim::in_threads(3, [&](unsigned i) {
        auto in = sennit::enter(all[orders[i][0]], all[orders[i][1]], all[orders[i][2]]);
        for (auto& each : all) each.count = each.count + 1;
    });
    for (auto& each : all) sim::check(each.count == 3, "all have been in all");
}
} // namespace
SIM_SCENARIO_WITHIN(monitor, three_threads_in_turned_orders, .preemptions = 2, .stale_reads = 0) {
    three_meet({{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}});
}
SIM_SCENARIO_WITHIN(monitor, three_threads_in_swapped_orders, .preemptions = 2, .stale_reads = 0) {
    three_meet({{{2, 1, 0}, {1, 0, 2}, {0, 2, 1}}});
}

// Overlapping pairs: who waits for one holds another.
SIM_SCENARIO_WITHIN(monitor, overlapping_pairs, .preemptions = 2, .stale_reads = 0) {
    part a, b, c;
    sim::in_threads(3, [&](unsigned i) {
        if (i == 0) both(a, b);
        if (i == 1) both(c, b);
        if (i == 2) both(a, c);
    });
    sim::check(a.count == 2 && b.count == 2 && c.count == 2, "each pair has been in");
}

SIM_SCENARIO_WITHIN(monitor, a_signal_meets_the_leaving_waiter, .preemptions = 2,
                    .stale_reads = 1) {
    part one;
    sennit::condition changed{one};
    bool set = false; // guarded by the monitor
    sim::thread waiter([&] {
        auto in = sennit::enter(one);
        if (!set) changed.wait();
        sim::check(set, "who set it has signalled");
        one.count = one.count + 1;
    });
    {
        auto in = sennit::enter(one);
        set = true;
        changed.signal();
        one.count = one.count + 1;
    }
    waiter.join();
    sim::check(one.count == 2, "both have been in");
}

// Two fibers that pass it on by a switch from one to the other, while a thread wants it, too.
SIM_SCENARIO_WITHIN(monitor, two_fibers_pass_it_on, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(it.count == 5, "each has had its turns");
}

// The same with two monitors, of which the thread wants one: who leaves has somebody to tell in
// both, in the other one only, or in none.
SIM_SCENARIO_WITHIN(monitor, two_fibers_pass_two_on, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(a.count == 2 && b.count == 3, "each has had its turns");
}

// Nobody gets in between the signal and the waiter, though somebody tries.
SIM_SCENARIO_WITHIN(monitor, nobody_comes_between, .preemptions = 2, .stale_reads = 0) {
    part one;
    sennit::condition changed{one};
    bool signalled = false, between = false; // guarded by the monitor
    std::optional<scope> in;
    in.emplace(one);
    sim::thread signaller([&] {
        auto mine = sennit::enter(one);
        signalled = changed.signal();
        sim::check(signalled, "somebody waits");
    });
    sim::thread barger([&] {
        auto mine = sennit::enter(one);
        between = signalled;
    });
    changed.wait();
    sim::check(signalled && !between, "nobody has been in since the signal");
    signalled = false;
    in.reset();
    signaller.join();
    barger.join();
}

SIM_SCENARIO_WITHIN(monitor, a_wait_over_two_gets_both_back, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(a.count == 2 && b.count == 2, "each has been where it wanted");
}

SIM_SCENARIO_WITHIN(monitor, a_signal_meets_the_deadline, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(one.count == 2 && woken == signalled, "one of both, for both");
}

SIM_SCENARIO_WITHIN(monitor, a_call_meets_the_acceptor, .preemptions = 2, .stale_reads = 1) {
    part one;
    std::optional<scope> in;
    in.emplace(one);
    sim::thread caller([&] { one.step(); });
    sim::check(sennit::waitfor(sennit::accept<&part::step>(one)) == 0, "it was accepted");
    sim::check(one.count == 1, "it went first");
    in.reset();
    caller.join();
}

SIM_SCENARIO_WITHIN(monitor, two_calls_meet_one_acceptor, .preemptions = 2, .stale_reads = 0) {
    part one;
    {
        auto in = sennit::enter(one);
        sim::thread first([&] { one.step(); });
        sim::thread second([&] { one.step(); });
        sennit::waitfor(sennit::accept<&part::step>(one));
        sim::check(one.count == 1, "one went first, the other did not");
        sennit::waitfor(sennit::accept<&part::step>(one));
        sim::check(one.count == 2, "then the other");
        first.join();
        second.join();
    }
}

SIM_SCENARIO_WITHIN(monitor, a_call_of_two_meets_the_acceptor, .preemptions = 2, .stale_reads = 0) {
    part a, b;
    {
        auto in = sennit::enter(a, b);
        sim::thread one([&] { both(b, a); });
        sennit::waitfor(sennit::accept<&both>(a, b), sennit::accept<&part::step>(a));
        sim::check(a.count == 1 && b.count == 1, "it went first in both");
        one.join();
    }
}

SIM_SCENARIO_WITHIN(monitor, a_call_meets_the_acceptors_deadline, .preemptions = 2,
                    .stale_reads = 0) {
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
        sim::check(one.count == (came ? 1 : 0), "it went first, or not");
    }
    caller.join();
    sim::check(one.count == 1, "it has been in");
}

// Both come before the deadline, the second when the first is accepted already. (It wrote, without
// having been accepted, what the first one counted on, and the acceptor slept on.)
SIM_SCENARIO_WITHIN(monitor, two_calls_meet_an_acceptor_with_a_deadline, .preemptions = 2,
                    .stale_reads = 0) {
    part one;
    std::optional<scope> in;
    in.emplace(one);
    sim::thread first([&] { one.step(); });
    sim::thread second([&] { one.step(); });
    const bool came = sennit::waitfor(sennit::accept<&part::step>(one),
                                      sennit::timeout(std::chrono::hours(1))) == 0;
    sim::check(came && one.count == 1, "one went first");
    in.reset();
    first.join();
    second.join();
    sim::check(one.count == 2, "then the other");
}

SIM_SCENARIO_WITHIN(monitor, a_destructor_is_accepted_once, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(sennit::waitfor(sennit::accept_destructor(*one)) == 0, "it was accepted");
    one->count = 1; // we are inside still
    in.reset();
    destroyer.join();
    sim::check(gone == 1, "it went on then");
}
