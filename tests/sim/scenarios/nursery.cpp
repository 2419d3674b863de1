// SPDX-License-Identifier: Apache-2.0
// nursery: sennit/nursery.hpp. The children run on a worker, and the nursery belongs to a plain
// thread. So the explorer covers the nursery and not the engine.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/event.hpp"
#include "sennit/nursery.hpp"

#include <memory>
#include <optional>
#include <stdexcept>

namespace {

bool join_fails(sennit::nursery& family) {
    try {
        family.join();
        return false;
    } catch (const std::runtime_error&) {
        return true;
    }
}

} // namespace

SIM_SCENARIO_WITHIN(nursery, nursery_joins_children, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    std::array<sim::var<int>, 2> data;
    sennit::nursery family;
    for (auto& mine : data) family.start({.runtime = &*one}, [&] { mine = 1; });
    family.join();
    sim::check(data[0] == 1 && data[1] == 1, "the writes of the children are visible");
}

// The last child is about to return when the nursery is destroyed.
SIM_SCENARIO_WITHIN(nursery, nursery_may_be_destroyed_after_join, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    auto family = std::make_unique<sennit::nursery>();
    family->start({.runtime = &*one}, [] {});
    family->join();
    family.reset();
}

// The child has not started, is about to block, or sleeps.
SIM_SCENARIO_WITHIN(nursery, cancel_races_blocking_child, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::event never_set;
    sennit::nursery family;
    bool went_on = false;
    family.start({.runtime = &*one}, [&] {
        never_set.wait();
        went_on = true;
    });
    family.cancel();
    family.join();
    sim::check(!went_on, "the wait has thrown");
}

SIM_SCENARIO_WITHIN(nursery, error_cancels_other_children, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::event never_set;
    sennit::nursery family;
    family.start({.runtime = &*one}, [&] { never_set.wait(); });
    family.start({.runtime = &*one}, [] { throw std::runtime_error("failed"); });
    sim::check(join_fails(family), "the join reports the error when all children have ended");
}

// Two children fail on two workers: the join reports one error and drops the other.
SIM_SCENARIO_WITHIN(nursery, join_reports_one_of_two_errors, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    sennit::nursery family;
    for (int i = 0; i < 2; ++i)
        family.start({.runtime = &*two}, [] { throw std::runtime_error("failed"); });
    sim::check(join_fails(family), "the join reports an error");
}

// The wait for the children is cancelled from outside, and so the children are cancelled.
SIM_SCENARIO_WITHIN(nursery, cancelled_join_cancels_children, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    sennit::event never_set;
    sennit::sched::cancel_scope scope(nullptr);
    sim::thread canceller([&] { scope.cancel(); });
    const bool undisturbed = not_cancelled(scope, [&] {
        sennit::nursery family;
        family.start({.runtime = &*one}, [&] { never_set.wait(); });
        family.join();
    });
    sim::check(!undisturbed, "the join reports the cancellation, after the children's end");
    canceller.join();
}

// A child starts a sibling while the nursery is being cancelled.
SIM_SCENARIO_WITHIN(nursery, child_that_starts_sibling_races_cancel, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    sennit::event never_set;
    sennit::nursery family;
    family.start({.runtime = &*one},
                 [&] { family.start({.runtime = &*one}, [&] { never_set.wait(); }); });
    family.cancel();
    family.join();
}
