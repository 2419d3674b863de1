// SPDX-License-Identifier: Apache-2.0
// select: sennit/select.hpp, src/channel/select.cpp. Exactly one case happens. When two selects
// meet, it is the same transfer on both sides.
//
// Stop tokens are not explored: std::stop_callback knows the system's threads only
// (tests/sim/README.md).
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/select.hpp"

namespace {
using numbers = sennit::channel<int>;
using status = sennit::channel_status;

// Receives from either channel. Returns the value, or -1 for the end of the first channel.
int from_either(numbers& a, numbers& b) {
    int got = 0;
    const auto keep = [&](int value) { got = value; };
    sennit::select(sennit::on_pop(a, keep, [&] { got = -1; }), sennit::on_pop(b, keep));
    return got;
}
int left_in(numbers& from) {
    int sum = 0;
    for (int value = 0; from.try_pop(value) == status::success;) sum += value;
    return sum;
}
} // namespace

SIM_SCENARIO_WITHIN(select, select_takes_from_one_of_two_channels, .preemptions = 2,
                    .stale_reads = 0) {
    numbers a(1), b(1);
    sim::var<int> before_a{0}, before_b{0};
    sim::thread to_a([&] {
        before_a = 1;
        (void)a.push(1);
    });
    sim::thread to_b([&] {
        before_b = 1;
        (void)b.push(2);
    });
    const int got = from_either(a, b);
    sim::check(got == 1 || got == 2, "one value has arrived");
    sim::check((got == 1 ? before_a : before_b) == 1, "the write before the value is visible");
    to_a.join();
    to_b.join();
    sim::check(got + left_in(a) + left_in(b) == 3, "the other value is still in its channel");
}

// The two selects name the channels in opposite orders, and either transfer would do; exactly one
// takes place.
SIM_SCENARIO_WITHIN(select, two_selects_meet_once, .preemptions = 2, .stale_reads = 1) {
    numbers a, b;
    int to_first = 0, to_second = 0;
    std::size_t first = 9, second = 9;
    sim::thread other([&] {
        second = sennit::select(sennit::on_push(b, 2, [] {}),
                                sennit::on_pop(a, [&](int value) { to_second = value; }));
    });
    first = sennit::select(sennit::on_push(a, 1, [] {}),
                           sennit::on_pop(b, [&](int value) { to_first = value; }));
    other.join();
    sim::check(first == 1 - second, "one select pushes, the other pops");
    sim::check(first == 0 ? to_second == 1 && to_first == 0 : to_first == 2 && to_second == 0,
               "the value has arrived");
}

// Each select is on both sides of one channel: no select meets itself.
SIM_SCENARIO_WITHIN(select, two_selects_do_not_meet_themselves, .preemptions = 2,
                    .stale_reads = 1) {
    numbers meet;
    std::array<int, 2> got{};
    std::array<std::size_t, 2> which{};
    sim::in_threads(2, [&](unsigned me) {
        which[me] = sennit::select(sennit::on_push(meet, static_cast<int>(me) + 1, [] {}),
                                   sennit::on_pop(meet, [&, me](int v) { got[me] = v; }));
    });
    sim::check(which[0] == 1 - which[1], "one select pushes, the other pops");
    const unsigned receiver = which[0] == 1 ? 0 : 1;
    sim::check(got[receiver] == static_cast<int>(2 - receiver) && got[1 - receiver] == 0,
               "the value has arrived from the other select");
}

// A select that can meet two partners meets one of them; the deadline of the other partner passes.
SIM_SCENARIO_WITHIN(select, select_meets_one_of_two_partners, .preemptions = 2, .stale_reads = 1) {
    numbers a, b;
    const time_point when = soon();
    status pushed{};
    bool sent = false;
    sim::thread chooser([&] {
        sent = sennit::select(sennit::on_push(a, 1, [] {}), sennit::on_pop(b, [](int) {})) == 0;
    });
    sim::thread pusher([&] { pushed = b.push_until(2, when); });
    int got = 0;
    const status popped = a.pop_until(got, when);
    chooser.join();
    pusher.join();
    sim::check(popped == (sent ? status::success : status::timeout) && got == (sent ? 1 : 0),
               "the partner was met, or timed out");
    sim::check(pushed == (sent ? status::timeout : status::success),
               "the push succeeded if and only if the select did not meet the other partner");
}

SIM_SCENARIO_WITHIN(select, close_races_select, .preemptions = 2, .stale_reads = 1) {
    numbers a, b(1);
    sim::thread closer([&] { a.close(); });
    sim::thread sender([&] { (void)b.push(2); });
    const int got = from_either(a, b);
    sim::check(got == -1 || got == 2, "the end of a, or the value of b");
    closer.join();
    sender.join();
    sim::check(left_in(b) == (got == 2 ? 0 : 2), "the value was taken, or is in the channel");
}

SIM_SCENARIO_WITHIN(select, timeout_races_transfer, .preemptions = 3, .stale_reads = 1) {
    numbers queue(1);
    const time_point when = soon();
    int got = 0;
    sim::thread receiver([&] {
        sennit::select(sennit::on_pop(queue, [&](int value) { got = value; }),
                       sennit::at(when, [] {}));
    });
    sleep_until(when);
    (void)queue.push(7);
    receiver.join();
    sim::check(got + left_in(queue) == 7, "the value was taken, or is in the channel");
}

SIM_SCENARIO_WITHIN(select, cancel_races_transfer, .preemptions = 2, .stale_reads = 0) {
    numbers a(1), b;
    sennit::sched::cancel_scope scope(nullptr);
    int got = 0;
    sim::thread receiver([&] { (void)not_cancelled(scope, [&] { got = from_either(a, b); }); });
    sim::thread canceller([&] { scope.cancel(); });
    (void)a.push(7);
    receiver.join();
    canceller.join();
    sim::check(got + left_in(a) == 7, "the value was taken, or is in the channel");
}

SIM_SCENARIO_WITHIN(select, non_blocking_select_takes_value_or_not, .preemptions = 3,
                    .stale_reads = 1) {
    numbers meet;
    const time_point when = soon();
    status pushed{};
    sim::thread sender([&] { pushed = meet.push_until(7, when); });
    int got = 0;
    sleep_until(when);
    const std::size_t which = sennit::select(sennit::on_pop(meet, [&](int value) { got = value; }),
                                             sennit::otherwise([] {}));
    sender.join();
    sim::check((which == 0) == (pushed == status::success) && got == (which == 0 ? 7 : 0),
               "both sides report the same result");
}

// At every moment, one of the two channels is ready, so the select finds it.
SIM_SCENARIO_WITHIN(select, non_blocking_select_sees_both_channels_atomically, .preemptions = 3,
                    .stale_reads = 1) {
    numbers first(1), second(1);
    (void)first.push(1);
    sim::thread mover([&] {
        (void)second.push(2);
        int got = 0;
        (void)first.try_pop(got);
    });
    const auto nothing = [](auto&&...) {};
    const std::size_t which =
        sennit::select(sennit::on_pop(second, nothing), sennit::on_pop(first, nothing),
                       sennit::otherwise(nothing));
    mover.join();
    sim::check(which != 2, "one channel was ready");
}

// ---- on workers

SIM_SCENARIO_WITHIN(select, fiber_selects_between_two_threads, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    numbers a(1), b(1);
    int got = 0;
    sennit::fiber receiver({.runtime = &*one}, [&] { got = from_either(a, b); });
    sim::thread to_b([&] { (void)b.push(2); });
    (void)a.push(1);
    receiver.join();
    to_b.join();
    sim::check(got + left_in(a) + left_in(b) == 3,
               "one value was taken, the other is in its channel");
}
