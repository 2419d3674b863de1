// SPDX-License-Identifier: Apache-2.0
// Properties of fibers that change while the fibers begin, block and continue:
// fiber_block::change_properties.
#include "engine.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/scheduling.hpp"

#include <array>
#include <memory>
#include <optional>

namespace {

// A scheduling order with two levels. It checks that the priority of a fiber does not change while
// the fiber is in the order.
class two_levels final : public sennit::scheduling_order {
public:
    void push(sennit::ready_item& item) noexcept override {
        levels_[level_of(item)].push_back(item);
    }
    sennit::ready_item* pop() noexcept override {
        for (const std::size_t level : {1u, 0u})
            if (sennit::ready_item* item = levels_[level].pop_front()) {
                sim::check(level_of(*item) == level, "the fiber is at the level of its priority");
                return item;
            }
        return nullptr;
    }
    void remove(sennit::ready_item& item) noexcept override {
        levels_[level_of(item)].remove(item);
    }

private:
    static std::size_t level_of(const sennit::ready_item& item) noexcept {
        return sennit::priority_of(item) > 0;
    }
    std::array<sennit::ready_list, 2> levels_;
};

// A fiber that was spawned on a worker runs on a context that was created a moment ago. The change
// looks for the fiber there.
void change_meets_a_new_context(bool migratable) {
    std::optional<sennit::runtime> one;
    sim::calmly([&] {
        one.emplace(sennit::runtime_options{.workers = 1,
                                            .stack_size = small_stack,
                                            .order = sennit::make_order<two_levels>,
                                            .max_spare_workers = 0});
    });
    sennit::event runs, changed;
    sennit::base::atomic<sennit::fiber*> shown{nullptr};
    sim::thread setter([&] {
        if (sennit::fiber* fiber = shown.load_acq()) fiber->set_priority(1); // pairs with the store
        changed.set();
    });
    one->run([&] {
        sennit::fiber fiber({.migratable = migratable}, [&] { runs.set(); });
        shown.store_rel(&fiber); // pairs with the load
        // Leaves this context to the fiber; the worker creates another context.
        runs.wait();
        changed.wait();
        fiber.join();
    });
    setter.join();
    sim::calm_from_here();
}

} // namespace

SIM_SCENARIO_WITHIN(fiber_order, change_races_fiber_on_new_context, .preemptions = 2,
                    .stale_reads = 1) {
    change_meets_a_new_context(false);
}
SIM_SCENARIO_WITHIN(fiber_order, change_races_migratable_fiber_on_new_context, .preemptions = 2,
                    .stale_reads = 1) {
    change_meets_a_new_context(true);
}

// The fiber is in the order as a task that has not begun, then in no order, then as a woken
// context.
SIM_SCENARIO_WITHIN(fiber_order, change_races_fiber_that_begins_and_blocks, .preemptions = 2,
                    .stale_reads = 1) {
    std::optional<sennit::runtime> one;
    sim::calmly([&] {
        one.emplace(sennit::runtime_options{.workers = 1,
                                            .stack_size = small_stack,
                                            .order = sennit::make_order<two_levels>,
                                            .max_spare_workers = 0});
    });
    sennit::event set;
    sennit::fiber waits({.runtime = &*one}, [&] { set.wait(); });
    sim::thread setter([&] { set.set(); });
    waits.set_priority(1);
    waits.join();
    setter.join();
    sim::calm_from_here();
}
