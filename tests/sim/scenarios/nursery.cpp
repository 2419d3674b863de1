// SPDX-License-Identifier: Apache-2.0
// nursery: sennit/nursery.hpp. The children run on a worker, the nursery belongs to a plain thread,
// so that it is the nursery that is explored, and not the engine.
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

SIM_SCENARIO_WITHIN(nursery, joins_its_children, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    std::array<sim::var<int>, 2> data;
    sennit::nursery family;
    for (auto& mine : data) family.start({.runtime = &*one}, [&] { mine = 1; });
    family.join();
    sim::check(data[0] == 1 && data[1] == 1, "what they did is seen");
}

// The last child is on its way out when the nursery dies.
SIM_SCENARIO_WITHIN(nursery, dies_right_after_its_join, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    auto family = std::make_unique<sennit::nursery>();
    family->start({.runtime = &*one}, [] {});
    family->join();
    family.reset();
}

// The child has not started, is about to block, or sleeps.
SIM_SCENARIO_WITHIN(nursery, a_cancel_meets_a_child_that_blocks, .preemptions = 2,
                    .stale_reads = 1) {
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

SIM_SCENARIO_WITHIN(nursery, an_error_cancels_the_others, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::event never_set;
    sennit::nursery family;
    family.start({.runtime = &*one}, [&] { never_set.wait(); });
    family.start({.runtime = &*one}, [] { throw std::runtime_error("failed"); });
    sim::check(join_fails(family), "the error is told when all have ended");
}

// Two children fail on two workers: one error is told, the other is dropped.
SIM_SCENARIO_WITHIN(nursery, of_two_errors_one_is_told, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    sennit::nursery family;
    for (int i = 0; i < 2; ++i)
        family.start({.runtime = &*two}, [] { throw std::runtime_error("failed"); });
    sim::check(join_fails(family), "an error is told");
}

// The wait for the children is cancelled from outside: so are they.
SIM_SCENARIO_WITHIN(nursery, a_cancelled_join_cancels_the_children, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    sennit::event never_set;
    sennit::sched::cancel_scope scope(nullptr);
    sim::thread canceller([&] { scope.cancel(); });
    const bool undisturbed = not_cancelled(scope, [&] {
        sennit::nursery family;
        family.start({.runtime = &*one}, [&] { never_set.wait(); });
        family.join();
    });
    sim::check(!undisturbed, "the join tells of it, after the children's end");
    canceller.join();
}

// A child starts a sibling while the nursery is being cancelled.
SIM_SCENARIO_WITHIN(nursery, a_child_starts_a_sibling_against_a_cancel, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    sennit::event never_set;
    sennit::nursery family;
    family.start({.runtime = &*one},
                 [&] { family.start({.runtime = &*one}, [&] { never_set.wait(); }); });
    family.cancel();
    family.join();
}
