// SPDX-License-Identifier: Apache-2.0
// channel: sennit/channel.hpp. A value arrives once if its push reports success, and not at all
// otherwise.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/channel.hpp"
#include "sennit/fiber.hpp"

#include <optional>
#include <stdexcept>

namespace {
using numbers = sennit::channel<int>;
using status = sennit::channel_status;

int left_in(numbers& from) {
    int sum = 0;
    for (int value = 0; from.try_pop(value) == status::success;) sum += value;
    return sum;
}
} // namespace

// ---- a rendezvous

SIM_SCENARIO_WITHIN(channel, a_rendezvous_hands_one_value_over, .preemptions = 3,
                    .stale_reads = 2) {
    numbers meet;
    sim::var<int> data{0};
    sim::thread sender([&] {
        data = 1;
        sim::check(meet.push(7) == status::success, "it is taken");
    });
    sim::check(meet.pop() == 7 && data == 1, "the value, and what came before it, has arrived");
    sender.join();
}

SIM_SCENARIO_WITHIN(channel, two_senders_meet_one_receiver, .preemptions = 2, .stale_reads = 1) {
    numbers meet;
    sim::in_threads(3, [&](unsigned me) {
        if (me == 0)
            sim::check(*meet.pop() + *meet.pop() == 3, "each value has arrived once");
        else
            sim::check(meet.push(static_cast<int>(me)) == status::success, "it is taken");
    });
}

SIM_SCENARIO_WITHIN(channel, a_close_meets_a_rendezvous, .preemptions = 2, .stale_reads = 1) {
    numbers meet;
    status pushed{};
    sim::thread sender([&] { pushed = meet.push(7); });
    sim::thread closer([&] { meet.close(); });
    const std::optional<int> got = meet.pop();
    sender.join();
    closer.join();
    sim::check(pushed == (got ? status::success : status::closed), "both sides know the same");
}

// Both times are over at once; then they meet, or both go away.
SIM_SCENARIO_WITHIN(channel, two_deadlines_meet, .preemptions = 3, .stale_reads = 1) {
    numbers meet;
    const time_point when = soon();
    status pushed{}, popped{};
    sim::thread sender([&] { pushed = meet.push_until(7, when); });
    int got = 0;
    sleep_until(when);
    popped = meet.pop_until(got, when);
    sender.join();
    sim::check(pushed == popped && got == (popped == status::success ? 7 : 0),
               "both sides know the same");
}

// ---- with room

SIM_SCENARIO_WITHIN(channel, values_arrive_in_order, .preemptions = 2, .stale_reads = 2) {
    numbers queue(1);
    sim::thread sender([&] {
        for (int i = 1; i <= 3; ++i)
            sim::check(queue.push(i) == status::success, "there is room, or room comes");
        queue.close();
    });
    int next = 1;
    for (int value : queue) sim::check(value == next++, "they come in order");
    sim::check(next == 4, "all have come");
    sender.join();
}

// What lies in it at the close is still popped, and whoever waits learns of the end.
SIM_SCENARIO_WITHIN(channel, a_close_meets_two_receivers, .preemptions = 2, .stale_reads = 1) {
    numbers queue(1);
    std::optional<int> first, second;
    sim::thread one([&] { first = queue.pop(); });
    sim::thread two([&] { second = queue.pop(); });
    sim::check(queue.push(7) == status::success, "there is room");
    queue.close();
    one.join();
    two.join();
    sim::check(first.has_value() != second.has_value(), "one of them has it");
}

SIM_SCENARIO_WITHIN(channel, an_error_reaches_who_waits_for_the_end, .preemptions = 2,
                    .stale_reads = 1) {
    numbers queue(1);
    sim::thread closer([&] { queue.close(std::make_exception_ptr(std::runtime_error("end"))); });
    bool thrown = false;
    try {
        (void)queue.pop();
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    closer.join();
    sim::check(thrown, "the error is thrown at the end");
}

SIM_SCENARIO_WITHIN(channel, a_timed_pop_meets_the_push, .preemptions = 3, .stale_reads = 1) {
    numbers queue(1);
    const time_point when = soon();
    int got = 0;
    sim::thread receiver([&] { (void)queue.pop_until(got, when); });
    sleep_until(when);
    sim::check(queue.push(7) == status::success, "there is room");
    receiver.join();
    sim::check(got + left_in(queue) == 7, "it has arrived, or lies there");
}

// A sender that waits for room gives up while room comes.
SIM_SCENARIO_WITHIN(channel, a_timed_push_meets_the_pop, .preemptions = 3, .stale_reads = 1) {
    numbers queue(1);
    const time_point when = soon();
    (void)queue.push(1);
    status pushed{};
    sim::thread sender([&] { pushed = queue.push_until(2, when); });
    sleep_until(when);
    sim::check(queue.pop() == 1, "the oldest comes first");
    sender.join();
    sim::check(left_in(queue) == (pushed == status::success ? 2 : 0),
               "it lies there if it was taken");
}

SIM_SCENARIO_WITHIN(channel, a_cancelled_pop_meets_the_push, .preemptions = 2, .stale_reads = 1) {
    numbers queue(1);
    sennit::sched::cancel_scope scope(nullptr);
    int got = 0;
    sim::thread receiver([&] { (void)not_cancelled(scope, [&] { (void)queue.pop(got); }); });
    sim::thread canceller([&] { scope.cancel(); });
    sim::check(queue.push(7) == status::success, "there is room");
    receiver.join();
    canceller.join();
    sim::check(got + left_in(queue) == 7, "it has arrived, or lies there");
}

SIM_SCENARIO_WITHIN(channel, a_cancelled_push_meets_the_pop, .preemptions = 2, .stale_reads = 1) {
    numbers meet;
    sennit::sched::cancel_scope scope(nullptr);
    bool sent = false;
    sim::thread sender([&] { sent = not_cancelled(scope, [&] { (void)meet.push(7); }); });
    sim::thread canceller([&] { scope.cancel(); });
    const int got = left_in(meet); // perhaps before the sender comes
    canceller.join();
    sender.join();
    sim::check(left_in(meet) == 0, "the value of a cancelled push is not in the channel");
    sim::check(got == (sent ? 7 : 0), "it has arrived if it was taken");
}

SIM_SCENARIO_WITHIN(channel, an_unbounded_one_grows_while_others_push, .preemptions = 2,
                    .stale_reads = 1) {
    numbers queue(numbers::unbounded);
    sim::in_threads(2, [&](unsigned me) { (void)queue.push(static_cast<int>(me) + 1); });
    sim::check(left_in(queue) == 3, "both are there");
}

// ---- on workers

SIM_SCENARIO_WITHIN(channel, a_fiber_receives_from_a_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    numbers meet;
    sim::var<int> data{0};
    sennit::fiber receiver({.runtime = &*one},
                           [&] { sim::check(meet.pop() == 7 && data == 1, "it has arrived"); });
    data = 1;
    sim::check(meet.push(7) == status::success, "it is taken");
    receiver.join();
}
