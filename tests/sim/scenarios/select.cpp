// SPDX-License-Identifier: Apache-2.0
// select: sennit/select.hpp, src/channel/select.cpp. Exactly one case happens, on both sides of a
// meeting the same one.
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

// Receives from either; tells what came: a value, or -1 for the first one's end.
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

SIM_SCENARIO_WITHIN(select, of_two_channels_one_is_taken, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(got == 1 || got == 2, "one value has come");
    sim::check((got == 1 ? before_a : before_b) == 1, "what came before it is seen");
    to_a.join();
    to_b.join();
    sim::check(got + left_in(a) + left_in(b) == 3, "the other value is where it was");
}

// The channels are named in opposite orders, and either meeting would do; one takes place.
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
    sim::check(first == 1 - second, "one pushes, the other pops");
    sim::check(first == 0 ? to_second == 1 && to_first == 0 : to_first == 2 && to_second == 0,
               "it has arrived");
}

// Both sides of one channel: nobody meets itself.
SIM_SCENARIO_WITHIN(select, two_selects_on_both_sides_of_one_channel, .preemptions = 2,
                    .stale_reads = 1) {
    numbers meet;
    std::array<int, 2> got{};
    std::array<std::size_t, 2> which{};
    sim::in_threads(2, [&](unsigned me) {
        which[me] = sennit::select(sennit::on_push(meet, static_cast<int>(me) + 1, [] {}),
                                   sennit::on_pop(meet, [&, me](int v) { got[me] = v; }));
    });
    sim::check(which[0] == 1 - which[1], "one pushes, the other pops");
    const unsigned receiver = which[0] == 1 ? 0 : 1;
    sim::check(got[receiver] == static_cast<int>(2 - receiver) && got[1 - receiver] == 0,
               "it has arrived, from the other");
}

// A select that can meet two others meets one of them; the other one's time runs out.
SIM_SCENARIO_WITHIN(select, of_two_partners_one_is_met, .preemptions = 2, .stale_reads = 1) {
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
               "it is met, or not");
    sim::check(pushed == (sent ? status::timeout : status::success), "the other way round");
}

SIM_SCENARIO_WITHIN(select, a_close_meets_a_select, .preemptions = 2, .stale_reads = 1) {
    numbers a, b(1);
    sim::thread closer([&] { a.close(); });
    sim::thread sender([&] { (void)b.push(2); });
    const int got = from_either(a, b);
    sim::check(got == -1 || got == 2, "the end of a, or what came by b");
    closer.join();
    sender.join();
    sim::check(left_in(b) == (got == 2 ? 0 : 2), "the value was taken, or lies there");
}

SIM_SCENARIO_WITHIN(select, a_timeout_meets_a_hand_over, .preemptions = 3, .stale_reads = 1) {
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
    sim::check(got + left_in(queue) == 7, "it was taken, or lies there");
}

SIM_SCENARIO_WITHIN(select, a_cancel_meets_a_hand_over, .preemptions = 2, .stale_reads = 0) {
    numbers a(1), b;
    sennit::sched::cancel_scope scope(nullptr);
    int got = 0;
    sim::thread receiver([&] { (void)not_cancelled(scope, [&] { got = from_either(a, b); }); });
    sim::thread canceller([&] { scope.cancel(); });
    (void)a.push(7);
    receiver.join();
    canceller.join();
    sim::check(got + left_in(a) == 7, "it was taken, or lies there");
}

SIM_SCENARIO_WITHIN(select, who_does_not_wait_takes_it_or_not, .preemptions = 3, .stale_reads = 1) {
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
               "both know the same");
}

// One of the two is ready at every moment, so it is found.
SIM_SCENARIO_WITHIN(select, who_does_not_wait_sees_both_channels_at_once, .preemptions = 3,
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
    sim::check(which != 2, "one was ready");
}

// ---- on workers

SIM_SCENARIO_WITHIN(select, a_fiber_chooses_between_two_threads, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    numbers a(1), b(1);
    int got = 0;
    sennit::fiber receiver({.runtime = &*one}, [&] { got = from_either(a, b); });
    sim::thread to_b([&] { (void)b.push(2); });
    (void)a.push(1);
    receiver.join();
    to_b.join();
    sim::check(got + left_in(a) + left_in(b) == 3, "one was taken, the other lies there");
}
