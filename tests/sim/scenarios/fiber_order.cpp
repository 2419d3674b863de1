// SPDX-License-Identifier: Apache-2.0
// Properties of fibers that are changed while they begin, block and go on:
// fiber_block::change_properties.
#include "engine.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/scheduling.hpp"

#include <array>
#include <memory>
#include <optional>

namespace {

// Two levels; sees that nothing changes its own while it is here.
class two_levels final : public sennit::scheduling_order {
public:
    void push(sennit::ready_item& item) noexcept override {
        levels_[level_of(item)].push_back(item);
    }
    sennit::ready_item* pop() noexcept override {
        for (const std::size_t level : {1u, 0u})
            if (sennit::ready_item* item = levels_[level].pop_front()) {
                sim::check(level_of(*item) == level, "it is where its priority says");
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

// A fiber that was spawned on a worker runs on a context that was made a moment ago, and is looked
// for there.
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
        runs.wait();             // leaves this context to it, and the worker makes another one
        changed.wait();
        fiber.join();
    });
    setter.join();
    sim::calm_from_here();
}

} // namespace

SIM_SCENARIO_WITHIN(fiber_order, a_change_meets_a_fiber_on_a_new_context, .preemptions = 2,
                    .stale_reads = 1) {
    change_meets_a_new_context(false);
}
SIM_SCENARIO_WITHIN(fiber_order, a_change_meets_a_movable_fiber_on_a_new_context, .preemptions = 2,
                    .stale_reads = 1) {
    change_meets_a_new_context(true);
}

// It is in the order as what has not begun, then in none, then as a context that was woken.
SIM_SCENARIO_WITHIN(fiber_order, a_change_meets_a_fiber_that_begins_and_blocks, .preemptions = 2,
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
