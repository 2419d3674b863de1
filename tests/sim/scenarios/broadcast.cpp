// SPDX-License-Identifier: Apache-2.0
// broadcast and watch: sennit/broadcast.hpp, sennit/watch.hpp.
#include "threads.hpp"

#include "sennit/broadcast.hpp"
#include "sennit/watch.hpp"

SIM_SCENARIO_WITHIN(broadcast, subscriber_counts_all_values, .preemptions = 2, .stale_reads = 1) {
    sennit::broadcast<int> numbers(1);
    auto mine = numbers.subscribe();
    sim::var<int> data{0};
    sim::thread publisher([&] {
        data = 1;
        numbers.publish(1);
        numbers.publish(2);
        numbers.close();
    });
    std::uint64_t seen = 0;
    while (const auto one = mine.pop()) {
        sim::check(data == 1, "the write before the first publish is visible");
        seen += 1 + one.missed();
    }
    publisher.join();
    sim::check(seen == 2, "each value was seen or missed");
}

SIM_SCENARIO_WITHIN(broadcast, cancelled_pop_loses_no_value, .preemptions = 2, .stale_reads = 1) {
    sennit::broadcast<int> numbers(4);
    auto mine = numbers.subscribe();
    sennit::sched::cancel_scope scope(nullptr);
    bool got = false;
    sim::thread reader([&] { got = not_cancelled(scope, [&] { (void)mine.pop(); }); });
    sim::thread canceller([&] { scope.cancel(); });
    numbers.publish(1);
    reader.join();
    canceller.join();
    sennit::broadcast<int>::item one;
    const bool left = mine.try_pop(one) == sennit::channel_status::success;
    sim::check(left == !got, "the value was read, or is there");
}

SIM_SCENARIO_WITHIN(broadcast, watch_never_sleeps_behind_newest_value, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::watch<int> level(0);
    auto mine = level.observe();
    sim::thread writer([&] {
        level.set(1);
        level.set(2);
    });
    sim::check(*mine.wait([](int n) { return n == 2; }) == 2, "the newest value is seen");
    writer.join();
}
