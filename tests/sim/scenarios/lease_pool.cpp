// SPDX-License-Identifier: Apache-2.0
// lease_pool: sennit/lease_pool.hpp. All plain threads share one slot, so each exchange races.
#include "engine.hpp"

#include "sennit/fiber.hpp"
#include "sennit/lease_pool.hpp"

#include <memory>

namespace {

struct object {
    sim::var<int> uses{0};
};
using pool_of_objects = sennit::lease_pool<std::unique_ptr<object>>;

std::unique_ptr<object> make_object() {
    return std::make_unique<object>();
}
void use(const pool_of_objects::lease& mine) {
    (*mine)->uses = (*mine)->uses + 1;
}
// The uses of all objects; all leases have ended. Fails if an object was lost.
int all_uses(pool_of_objects& pool) {
    int sum = 0;
    pool.for_each([&](std::unique_ptr<object>& one) { sum += one->uses; });
    return sum;
}

} // namespace

SIM_SCENARIO_WITHIN(lease_pool, object_belongs_to_one_borrower, .preemptions = 2,
                    .stale_reads = 1) {
    pool_of_objects pool(&make_object);
    sim::in_threads(2, [&](unsigned) {
        use(pool.borrow());
        use(pool.borrow());
    });
    sim::check(all_uses(pool) == 4, "no object was lost, and no use either");
}

// Two threads give objects back to one slot, so that one object goes to the list. The third thread
// takes both, without another order between the threads.
SIM_SCENARIO_WITHIN(lease_pool, object_passes_through_list_to_next_borrower, .preemptions = 2,
                    .stale_reads = 1) {
    pool_of_objects pool(&make_object);
    sim::thread first([&] { use(pool.borrow()); });
    sim::thread second([&] { use(pool.borrow()); });
    {
        const auto one = pool.borrow();
        const auto two = pool.borrow();
        use(one);
        use(two);
    }
    first.join();
    second.join();
    sim::check(all_uses(pool) == 4, "no object was lost, and no use either");
}

// Fibers on two workers use two slots, and each finds the object of the other worker.
SIM_SCENARIO_WITHIN(lease_pool, fibers_on_two_workers_borrow, .preemptions = 1, .stale_reads = 0) {
    pool_of_objects pool(&make_object);
    {
        engine two(2);
        sennit::fiber one({.runtime = &*two}, [&] { use(pool.borrow()); });
        sennit::fiber other({.runtime = &*two}, [&] { use(pool.borrow()); });
        use(pool.borrow());
        one.join();
        other.join();
    }
    sim::check(all_uses(pool) == 3, "no object was lost, and no use either");
}
