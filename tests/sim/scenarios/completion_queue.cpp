// SPDX-License-Identifier: Apache-2.0
// The queue of as_completed: sennit/bounded/detail/completion_queue.hpp.
#include "threads.hpp"

#include "sennit/bounded/detail/completion_queue.hpp"

#include <array>

namespace {

struct result : sennit::detail::completion_place {
    sim::var<int> value{0};
};

} // namespace

// One thread reads the input and completes the items, with one place for two items.
SIM_SCENARIO_WITHIN(as_completed, one_place_serves_two_items, .preemptions = 3, .stale_reads = 1) {
    sennit::detail::completion_queue queue(1);
    result place;
    sim::thread feeder([&] {
        for (int i = 1; i <= 2; ++i) {
            auto* free = static_cast<result*>(queue.take());
            result& to = free ? *free : place;
            queue.item_begins();
            to.value = i;
            queue.complete(to);
        }
        queue.input_ends();
    });
    int sum = 0;
    while (auto* done = static_cast<result*>(queue.next())) {
        sum += done->value;
        done->value = 0;
        queue.give_back(*done);
    }
    feeder.join();
    sim::check(sum == 3, "both results have come");
}

// The input ends while two children complete.
SIM_SCENARIO_WITHIN(as_completed, end_of_input_races_completions, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::detail::completion_queue queue(2);
    std::array<result, 2> places;
    for (int i = 0; i < 2; ++i) {
        (void)queue.take();
        queue.item_begins();
    }
    sim::thread first([&] {
        places[0].value = 1;
        queue.complete(places[0]);
    });
    sim::thread second([&] {
        queue.input_ends();
        places[1].value = 2;
        queue.complete(places[1]);
    });
    int sum = 0;
    while (auto* done = static_cast<result*>(queue.next())) sum += done->value;
    first.join();
    second.join();
    sim::check(sum == 3, "both results have come, and then the end");
}

SIM_SCENARIO_WITHIN(as_completed, failure_ends_wait_for_result, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::detail::completion_queue queue(1);
    (void)queue.take();
    queue.item_begins();
    sim::thread child([&] { queue.fail(); });
    sim::check(queue.next() == nullptr, "no result comes");
    child.join();
}
