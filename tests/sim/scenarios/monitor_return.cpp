// SPDX-License-Identifier: Apache-2.0
// A waiter returns from a wait that no signal has ended, and finds that the monitor's owner accepts
// calls and does not leave: sennit/monitor.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/monitor.hpp"

#include <chrono>

namespace {

struct room : sennit::monitor {
    sim::var<int> count{0};
    sennit::condition changed{*this};
    void step() {
        auto in = sennit::enter<&room::step>(*this);
        count = count + 1;
    }
    bool look(time_point until) {
        auto in = sennit::enter<&room::look>(*this);
        const bool told = changed.wait_until(until);
        count = count + 1;
        return told;
    }
};
bool look_at_both(room& a, room& b, sennit::condition& changed, time_point until) {
    auto in = sennit::enter<&look_at_both>(a, b);
    const bool told = changed.wait_until(until);
    a.count = a.count + 1;
    b.count = b.count + 1;
    return told;
}

// A returning waiter before a call of `step`, which is the first of the acceptor's clauses;
// `others` are the clauses behind it.
template <class... Others>
void comes_back_past_an_acceptor(Others... others) {
    room one;
    const time_point when = soon();
    auto in = sennit::enter(one);
    sim::thread caller([&] {
        sim::check(!one.look(when), "there was no signal");
        one.step();
    });
    sennit::waitfor(sennit::accept<&room::look>(one));
    sim::check(sennit::waitfor(sennit::accept<&room::step>(one), others...) == 0,
               "the call was accepted");
    sim::check(one.count == 2, "the waiter had returned before the call");
    caller.join();
}

} // namespace

SIM_SCENARIO_WITHIN(monitor, returning_waiter_passes_acceptor, .preemptions = 2, .stale_reads = 1) {
    comes_back_past_an_acceptor();
}

SIM_SCENARIO_WITHIN(monitor, returning_waiter_races_acceptor_with_deadline, .preemptions = 2,
                    .stale_reads = 0) {
    comes_back_past_an_acceptor(sennit::timeout(std::chrono::hours(1)));
}

// The returning waiter and the call compete for one acceptance.
SIM_SCENARIO_WITHIN(monitor, returning_waiter_races_call, .preemptions = 2, .stale_reads = 0) {
    room one;
    const time_point when = soon();
    {
        auto in = sennit::enter(one);
        sim::thread waiter([&] { one.look(when); });
        sennit::waitfor(sennit::accept<&room::look>(one));
        sim::thread caller([&] {
            sleep_until(when);
            one.step();
        });
        sim::check(sennit::waitfor(sennit::accept<&room::step>(one)) == 0, "the call was accepted");
        caller.join();
        sennit::waitfor(sennit::accept<&room::step>(one),
                        sennit::timeout(std::chrono::milliseconds(9)));
        waiter.join();
    }
    sim::check(one.count == 2, "both threads have been inside");
}

SIM_SCENARIO_WITHIN(monitor, returning_waiter_reacquires_both_monitors, .preemptions = 2,
                    .stale_reads = 0) {
    room a, b;
    sennit::condition changed{a, b};
    const time_point when = soon();
    auto in = sennit::enter(a, b);
    sim::thread caller([&] {
        sim::check(!look_at_both(a, b, changed, when), "there was no signal");
        a.step();
    });
    sennit::waitfor(sennit::accept<&look_at_both>(a, b));
    sennit::waitfor(sennit::accept<&room::step>(b), sennit::accept<&room::step>(a));
    sim::check(a.count == 2 && b.count == 1,
               "the waiter had returned to both monitors before the call");
    caller.join();
}
