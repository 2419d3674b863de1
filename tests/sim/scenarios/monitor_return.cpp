// SPDX-License-Identifier: Apache-2.0
// Who comes back from a wait that nobody has ended by a signal, and finds the monitor with an owner
// that accepts calls and does not leave: sennit/monitor.hpp.
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

// Before a call of `step`, the first of the acceptor's clauses; `others` are those behind it.
template <class... Others>
void comes_back_past_an_acceptor(Others... others) {
    room one;
    const time_point when = soon();
    auto in = sennit::enter(one);
    sim::thread caller([&] {
        sim::check(!one.look(when), "nobody has signalled");
        one.step();
    });
    sennit::waitfor(sennit::accept<&room::look>(one));
    sim::check(sennit::waitfor(sennit::accept<&room::step>(one), others...) == 0,
               "it was accepted");
    sim::check(one.count == 2, "it had come back before");
    caller.join();
}

} // namespace

SIM_SCENARIO_WITHIN(monitor, who_comes_back_goes_past_an_acceptor, .preemptions = 2,
                    .stale_reads = 1) {
    comes_back_past_an_acceptor();
}

SIM_SCENARIO_WITHIN(monitor, who_comes_back_meets_an_acceptor_with_a_deadline, .preemptions = 2,
                    .stale_reads = 0) {
    comes_back_past_an_acceptor(sennit::timeout(std::chrono::hours(1)));
}

// Both want to be let in by the same acceptance.
SIM_SCENARIO_WITHIN(monitor, who_comes_back_meets_a_call, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(one.count == 2, "both have been in");
}

SIM_SCENARIO_WITHIN(monitor, who_comes_back_gets_both, .preemptions = 2, .stale_reads = 0) {
    room a, b;
    sennit::condition changed{a, b};
    const time_point when = soon();
    auto in = sennit::enter(a, b);
    sim::thread caller([&] {
        sim::check(!look_at_both(a, b, changed, when), "nobody has signalled");
        a.step();
    });
    sennit::waitfor(sennit::accept<&look_at_both>(a, b));
    sennit::waitfor(sennit::accept<&room::step>(b), sennit::accept<&room::step>(a));
    sim::check(a.count == 2 && b.count == 1, "it had come back to both before");
    caller.join();
}
