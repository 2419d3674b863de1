// SPDX-License-Identifier: Apache-2.0
// Fibers on their way from one runtime to another: src/fibers/runtime/fiber_migration.cpp.
#include "engine.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/this_fiber.hpp"

#include <memory>
#include <optional>

namespace {

// A fiber that goes from one to the other; which begins when the scenario says so.
struct two_runtimes {
    engine here{1}, there{1};
    sennit::fiber_attributes moves{.runtime = &*here, .migratable = true};
};

// Plain data that an order may go by: changed under the order's lock.
struct noted final : sennit::fiber_properties {
    sim::var<int> count{0};
};

} // namespace

// The joiner comes before, while and after it moves, and frees what it is at once.
SIM_SCENARIO_WITHIN(fiber_migration, meets_a_join, .preemptions = 2, .stale_reads = 1) {
    two_runtimes all;
    sim::var<int> data{0};
    sennit::fiber one(all.moves, [&] {
        data = 1;
        sennit::this_fiber::migrate_to(*all.there);
        sim::check(sennit::sched::current_runtime() == &all.there->core(), "it is there");
        data = data + 1;
    });
    one.join();
    sim::check(data == 2, "what the fiber did on both sides is seen");
}

// Its joiner is a fiber of the runtime that it comes to, and might run it on its own stack.
SIM_SCENARIO_WITHIN(fiber_migration, meets_a_join_where_it_arrives, .preemptions = 2,
                    .stale_reads = 1) {
    two_runtimes all;
    sim::var<int> data{0};
    all.there.run([&] {
        sennit::fiber one(all.moves, [&] {
            sennit::this_fiber::migrate_to(*all.there);
            data = data + 1;
        });
        one.join();
        sim::check(data == 1, "it has run once, and that is seen");
    });
}

// It waits there for what is set while it is on its way.
SIM_SCENARIO_WITHIN(fiber_migration, meets_a_wake_up, .preemptions = 2, .stale_reads = 1) {
    two_runtimes all;
    sim::var<int> data{0};
    sennit::event set;
    sennit::fiber one(all.moves, [&] {
        sennit::this_fiber::migrate_to(*all.there);
        set.wait();
        sim::check(data == 42, "what came before is seen");
    });
    data = 42;
    set.set();
    one.join();
}

SIM_SCENARIO_WITHIN(fiber_migration, meets_a_stop_request, .preemptions = 2, .stale_reads = 1) {
    two_runtimes all;
    sim::var<int> asked{0};
    sennit::fiber one(all.moves, [&] {
        sennit::this_fiber::migrate_to(*all.there);
        if (sennit::this_fiber::get_stop_token().stop_requested())
            sim::check(asked == 1, "what came before is seen");
        sennit::this_fiber::migrate_to(*all.here);
    });
    asked = 1;
    sim::check(one.request_stop(), "nobody had asked before");
    one.join();
    sim::check(one.get_stop_token().stop_requested(), "it has been asked");
}

// What belongs to the lock of an order is changed from outside under one runtime's lock, by the
// fiber under the other's.
SIM_SCENARIO_WITHIN(fiber_migration, meets_a_change_of_its_properties, .preemptions = 2,
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
    sim::check(counted->count == 2, "both have changed it");
}

// Whoever joins it destroys the runtime that it has ended in, while the worker that it left may
// still be at its post.
SIM_SCENARIO_WITHIN(fiber_migration, meets_the_end_of_where_it_goes, .preemptions = 2,
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
