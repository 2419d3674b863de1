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

SIM_SCENARIO_WITHIN(channel, rendezvous_transfers_one_value, .preemptions = 3, .stale_reads = 2) {
    numbers meet;
    sim::var<int> data{0};
    sim::thread sender([&] {
        data = 1;
        sim::check(meet.push(7) == status::success, "the push succeeds");
    });
    sim::check(meet.pop() == 7 && data == 1,
               "the value has arrived, and the writes before it are visible");
    sender.join();
}

SIM_SCENARIO_WITHIN(channel, one_receiver_takes_from_two_senders, .preemptions = 2,
                    .stale_reads = 1) {
    numbers meet;
    sim::in_threads(3, [&](unsigned me) {
        if (me == 0)
            sim::check(*meet.pop() + *meet.pop() == 3, "each value has arrived once");
        else
            sim::check(meet.push(static_cast<int>(me)) == status::success, "the push succeeds");
    });
}

SIM_SCENARIO_WITHIN(channel, close_races_rendezvous, .preemptions = 2, .stale_reads = 1) {
    numbers meet;
    status pushed{};
    sim::thread sender([&] { pushed = meet.push(7); });
    sim::thread closer([&] { meet.close(); });
    const std::optional<int> got = meet.pop();
    sender.join();
    closer.join();
    sim::check(pushed == (got ? status::success : status::closed),
               "both sides report the same result");
}

// Both deadlines pass immediately: the two sides meet, or both give up.
SIM_SCENARIO_WITHIN(channel, deadlines_of_both_sides_race, .preemptions = 3, .stale_reads = 1) {
    numbers meet;
    const time_point when = soon();
    status pushed{}, popped{};
    sim::thread sender([&] { pushed = meet.push_until(7, when); });
    int got = 0;
    sleep_until(when);
    popped = meet.pop_until(got, when);
    sender.join();
    sim::check(pushed == popped && got == (popped == status::success ? 7 : 0),
               "both sides report the same result");
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
    for (int value : queue) sim::check(value == next++, "the values arrive in order");
    sim::check(next == 4, "all values have arrived");
    sender.join();
}

// Values that are in the channel at the close are still popped, and each waiter learns of the end.
SIM_SCENARIO_WITHIN(channel, close_races_two_receivers, .preemptions = 2, .stale_reads = 1) {
    numbers queue(1);
    std::optional<int> first, second;
    sim::thread one([&] { first = queue.pop(); });
    sim::thread two([&] { second = queue.pop(); });
    sim::check(queue.push(7) == status::success, "there is room");
    queue.close();
    one.join();
    two.join();
    sim::check(first.has_value() != second.has_value(), "exactly one receiver has the value");
}

SIM_SCENARIO_WITHIN(channel, error_reaches_waiter_for_end, .preemptions = 2, .stale_reads = 1) {
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

SIM_SCENARIO_WITHIN(channel, timed_pop_races_push, .preemptions = 3, .stale_reads = 1) {
    numbers queue(1);
    const time_point when = soon();
    int got = 0;
    sim::thread receiver([&] { (void)queue.pop_until(got, when); });
    sleep_until(when);
    sim::check(queue.push(7) == status::success, "there is room");
    receiver.join();
    sim::check(got + left_in(queue) == 7, "the value has arrived, or is in the channel");
}

// A sender that waits for room times out while room becomes available.
SIM_SCENARIO_WITHIN(channel, timed_push_races_pop, .preemptions = 3, .stale_reads = 1) {
    numbers queue(1);
    const time_point when = soon();
    (void)queue.push(1);
    status pushed{};
    sim::thread sender([&] { pushed = queue.push_until(2, when); });
    sleep_until(when);
    sim::check(queue.pop() == 1, "the oldest comes first");
    sender.join();
    sim::check(left_in(queue) == (pushed == status::success ? 2 : 0),
               "an accepted value is in the channel");
}

SIM_SCENARIO_WITHIN(channel, cancelled_pop_races_push, .preemptions = 2, .stale_reads = 1) {
    numbers queue(1);
    sennit::sched::cancel_scope scope(nullptr);
    int got = 0;
    sim::thread receiver([&] { (void)not_cancelled(scope, [&] { (void)queue.pop(got); }); });
    sim::thread canceller([&] { scope.cancel(); });
    sim::check(queue.push(7) == status::success, "there is room");
    receiver.join();
    canceller.join();
    sim::check(got + left_in(queue) == 7, "the value has arrived, or is in the channel");
}

SIM_SCENARIO_WITHIN(channel, cancelled_push_races_pop, .preemptions = 2, .stale_reads = 1) {
    numbers meet;
    sennit::sched::cancel_scope scope(nullptr);
    bool sent = false;
    sim::thread sender([&] { sent = not_cancelled(scope, [&] { (void)meet.push(7); }); });
    sim::thread canceller([&] { scope.cancel(); });
    const int got = left_in(meet); // perhaps before the push
    canceller.join();
    sender.join();
    sim::check(left_in(meet) == 0, "the value of a cancelled push is not in the channel");
    sim::check(got == (sent ? 7 : 0), "an accepted value has arrived");
}

SIM_SCENARIO_WITHIN(channel, unbounded_channel_grows_while_senders_push, .preemptions = 2,
                    .stale_reads = 1) {
    numbers queue(numbers::unbounded);
    sim::in_threads(2, [&](unsigned me) { (void)queue.push(static_cast<int>(me) + 1); });
    sim::check(left_in(queue) == 3, "all values are in the channel");
}

// ---- on workers

SIM_SCENARIO_WITHIN(channel, fiber_receives_from_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    numbers meet;
    sim::var<int> data{0};
    sennit::fiber receiver({.runtime = &*one}, [&] {
        sim::check(meet.pop() == 7 && data == 1,
                   "the value has arrived, and the write before it is visible");
    });
    data = 1;
    sim::check(meet.push(7) == status::success, "the push succeeds");
    receiver.join();
}
