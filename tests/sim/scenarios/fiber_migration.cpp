// SPDX-License-Identifier: Apache-2.0
// Fibers that migrate from one runtime to another: src/fibers/runtime/fiber_migration.cpp.
#include "engine.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/this_fiber.hpp"

#include <memory>
#include <optional>

namespace {

// Two runtimes, and a fiber that migrates from the first to the second and begins when the scenario
// says so.
struct two_runtimes {
    engine here{1}, there{1};
    sennit::fiber_attributes moves{.runtime = &*here, .migratable = true};
};

// Plain data that a scheduling order may use: it is changed under the order's lock.
struct noted final : sennit::fiber_properties {
    sim::var<int> count{0};
};

} // namespace

// The joiner comes before, during or after the migration, and frees the fiber immediately.
SIM_SCENARIO_WITHIN(fiber_migration, migration_races_join, .preemptions = 2, .stale_reads = 1) {
    two_runtimes all;
    sim::var<int> data{0};
    sennit::fiber one(all.moves, [&] {
        data = 1;
        sennit::this_fiber::migrate_to(*all.there);
        sim::check(sennit::sched::current_runtime() == &all.there->core(),
                   "the fiber runs in the second runtime");
        data = data + 1;
    });
    one.join();
    sim::check(data == 2, "the writes of the fiber in both runtimes are visible");
}

// The joiner is a fiber of the destination runtime, and might run the migrated fiber on its own
// stack.
SIM_SCENARIO_WITHIN(fiber_migration, migration_races_join_at_destination, .preemptions = 2,
                    .stale_reads = 1) {
    two_runtimes all;
    sim::var<int> data{0};
    all.there.run([&] {
        sennit::fiber one(all.moves, [&] {
            sennit::this_fiber::migrate_to(*all.there);
            data = data + 1;
        });
        one.join();
        sim::check(data == 1, "the fiber has run once, and its write is visible");
    });
}

// After the migration the fiber waits for an event that is set during the migration.
SIM_SCENARIO_WITHIN(fiber_migration, migration_races_wake_up, .preemptions = 2, .stale_reads = 1) {
    two_runtimes all;
    sim::var<int> data{0};
    sennit::event set;
    sennit::fiber one(all.moves, [&] {
        sennit::this_fiber::migrate_to(*all.there);
        set.wait();
        sim::check(data == 42, "the write before is visible");
    });
    data = 42;
    set.set();
    one.join();
}

SIM_SCENARIO_WITHIN(fiber_migration, migration_races_stop_request, .preemptions = 2,
                    .stale_reads = 1) {
    two_runtimes all;
    sim::var<int> asked{0};
    sennit::fiber one(all.moves, [&] {
        sennit::this_fiber::migrate_to(*all.there);
        if (sennit::this_fiber::get_stop_token().stop_requested())
            sim::check(asked == 1, "the write before is visible");
        sennit::this_fiber::migrate_to(*all.here);
    });
    asked = 1;
    sim::check(one.request_stop(), "there was no earlier stop request");
    one.join();
    sim::check(one.get_stop_token().stop_requested(), "the stop request is visible");
}

// Data that the lock of a scheduling order guards is changed from outside under the lock of one
// runtime, and by the fiber under the lock of the other.
SIM_SCENARIO_WITHIN(fiber_migration, migration_races_change_of_properties, .preemptions = 2,
                    .stale_reads = 1) {
    two_runtimes all;
    const auto counted = std::make_shared<noted>();
    all.moves.properties = counted;
    const auto count = [](noted& own) { own.count = own.count + 1; };
    sennit::fiber one(all.moves, [&] {
        sennit::this_fiber::migrate_to(*all.there);
        sennit::this_fiber::change_properties<noted>(count);
    });
    one.change_properties<noted>(count);
    one.join();
    sim::check(counted->count == 2, "both changes took effect");
}

// The joiner destroys the runtime in which the fiber has ended, while the worker that the fiber
// left may still be posting the fiber.
SIM_SCENARIO_WITHIN(fiber_migration, migration_races_end_of_destination, .preemptions = 2,
                    .stale_reads = 1) {
    engine here(1);
    std::optional<sennit::runtime> there;
    sim::calmly([&] {
        there.emplace(sennit::runtime_options{
            .workers = 1, .stack_size = small_stack, .max_spare_workers = 0});
    });
    sennit::fiber one({.runtime = &*here, .migratable = true},
                      [&] { sennit::this_fiber::migrate_to(*there); });
    one.join();
    there.reset();
}
