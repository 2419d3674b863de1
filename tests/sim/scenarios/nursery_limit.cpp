// SPDX-License-Identifier: Apache-2.0
// The limit of a nursery: sennit/nursery.hpp. The owner is a plain thread, and the children run on
// a worker.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/nursery.hpp"

#include <stdexcept>

// The second start waits for the place of the first child, or finds it free.
SIM_SCENARIO_WITHIN(nursery, start_at_limit_races_end_of_child, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    sim::var<int> count{0};
    sennit::nursery family({.limit = 1});
    for (int i = 0; i < 2; ++i) family.start({.runtime = &*one}, [&] { count = count + 1; });
    family.join();
    sim::check(count == 2, "both children have run, one after the other");
}

// A child of a child is queued while its parent ends.
SIM_SCENARIO_WITHIN(nursery, queued_child_races_end_of_parent, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    sim::var<int> count{0};
    sennit::nursery family({.limit = 1});
    family.start({.runtime = &*two}, [&] {
        count = count + 1;
        family.start({.runtime = &*two}, [&] { count = count + 1; });
    });
    family.join();
    sim::check(count == 2, "both children have run, one after the other");
}

// Another thread finds no place and queues its child, while the place becomes free. The child must
// not stay in the queue.
SIM_SCENARIO_WITHIN(nursery, queued_child_of_other_thread_races_free_place, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    int count = 0;
    sennit::nursery family({.limit = 1});
    family.start({.runtime = &*one}, [&] { ++count; });
    sim::thread other([&] { family.start({.runtime = &*one}, [&] { ++count; }); });
    other.join();
    family.join();
    sim::check(count == 2, "both children have run");
}

// The start is cancelled while the place becomes free. The place is not lost: otherwise the last
// start would wait for ever.
SIM_SCENARIO_WITHIN(nursery, cancelled_start_races_free_place, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    sennit::sched::cancel_scope scope(nullptr);
    int count = 0;
    sennit::nursery family({.limit = 1});
    family.start({.runtime = &*one}, [&] { ++count; });
    sim::thread canceller([&] { scope.cancel(); });
    bool started = true;
    sennit::sched::cancel_scope* const before = sennit::sched::this_strand().scope;
    sennit::sched::this_strand().scope = &scope;
    try {
        family.start({.runtime = &*one}, [&] { ++count; });
    } catch (const sennit::cancelled&) {
        started = false;
    }
    sennit::sched::this_strand().scope = before;
    canceller.join();
    family.start({.runtime = &*one}, [&] { ++count; });
    family.join();
    sim::check(count == (started ? 3 : 2), "the children that were started have run");
}

// The error of the first child ends the wait of the second start, whether it waits or not yet.
SIM_SCENARIO_WITHIN(nursery, error_races_start_at_limit, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::nursery family({.limit = 1});
    family.start({.runtime = &*one}, [] { throw std::runtime_error("failed"); });
    family.start({.runtime = &*one}, [] {});
    bool failed = false;
    try {
        family.join();
    } catch (const std::runtime_error&) {
        failed = true;
    }
    sim::check(failed, "the join reports the error of the child");
}

// The child ends only when the start has returned, and a cancellation does not end its wait. So the
// cancel itself must end the start, whether it waits or not yet.
SIM_SCENARIO_WITHIN(nursery, cancel_races_start_at_limit, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    event start_returned;
    sennit::nursery family({.limit = 1});
    family.start({.runtime = &*one}, [&] { start_returned.wait(); });
    sim::thread canceller([&] { family.cancel(); });
    bool ran = false;
    family.start({.runtime = &*one}, [&] { ran = true; });
    start_returned.set();
    canceller.join();
    family.join();
    sim::check(!ran, "the place was never free");
}
