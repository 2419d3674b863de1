// SPDX-License-Identifier: Apache-2.0
// Pipelines: the serial stages and the source turn of src/par/pipeline.cpp.
#include "engine.hpp"

#include "sennit/par/pipeline.hpp"

#include <optional>

namespace {

auto counting_source(int count) {
    return [next = 0, count]() mutable -> std::optional<int> {
        if (next == count) return std::nullopt;
        return next++;
    };
}

} // namespace

// Two items reach the ordered stage at the same time, in either order.
SIM_SCENARIO_WITHIN(pipeline, items_meet_at_ordered_stage, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    sim::var<int> seen{0};
    two.run([&] {
        sennit::par::pipeline(2, counting_source(2), sennit::par::parallel([](int i) { return i; }),
                              sennit::par::in_order([&](int i) {
                                  sim::check(seen == i, "the items come in order");
                                  seen = i + 1;
                              }));
    });
    sim::check(seen == 2, "both items have passed");
}

// The source turn is deposited while the last free item is in use.
SIM_SCENARIO_WITHIN(pipeline, source_turn_waits_for_free_item, .preemptions = 1, .stale_reads = 0) {
    engine two(2);
    sim::var<int> count{0};
    two.run([&] {
        sennit::par::pipeline(1, counting_source(3), sennit::par::parallel([](int i) { return i; }),
                              sennit::par::one_at_a_time([&](int) { count = count + 1; }));
    });
    sim::check(count == 3, "all items have passed");
}

// The first item waits, in a leaf that never polls, until the second one is under way. The owner
// may have kept the source turn, although the other worker has requested it.
SIM_SCENARIO_WITHIN(pipeline, kept_source_turn_reaches_other_worker, .preemptions = 2,
                    .stale_reads = 0) {
    engine two(2);
    event second;
    two.run([&] {
        sennit::par::pipeline(2, counting_source(2), sennit::par::parallel([&](int i) {
                                  if (i == 0)
                                      second.wait();
                                  else
                                      second.set();
                              }));
    });
}
