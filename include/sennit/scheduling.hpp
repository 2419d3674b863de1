// SPDX-License-Identifier: Apache-2.0
// Scheduling policies, fibers' properties, and orders of one's own. Most programs need none of
// this: the default keeps all workers busy and is the fastest.
//
//     sennit::runtime same_each_time({.workers = 1, .policy = sennit::scheduling::round_robin});
//     sennit::runtime by_priority({.order = sennit::make_order<sennit::priority_order>});
//     sennit::fiber urgent({.runtime = &by_priority, .priority = 5}, handle_alarm);
//
// The guide, docs/guide/scheduling.md, shows how to write an order, by the example of earliest
// deadline first.
//
// Scheduling policies: which ready piece of work runs next, and on which worker.
//
// Three policies. `stealing`, the default: each worker has a queue of its own, and idle workers
// take from busy ones. `sharing`: one queue for all workers. `round_robin`: what begins on a worker
// stays there, in arrival order; nothing is stolen, so one worker runs the same program in the same
// order each time. In the shared queue the order may be one's own: see `scheduling_order`.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/runnable.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace sennit::sched {
class fiber_block;
}

namespace sennit {

enum class scheduling : std::uint8_t {
    automatic, // SENNIT_SCHEDULING if set (stealing, sharing, round-robin or priority), else
               // stealing
    stealing,
    sharing,
    round_robin,
};

// What an order may know of a fiber. Derive from it to tell an order of your own more: a deadline,
// a tenant. Given with fiber_attributes::properties, to one fiber at a time; changed by
// fiber::change_properties, never behind the scheduler's back.
class fiber_properties {
public:
    explicit fiber_properties(int urgency = 0) noexcept : priority(urgency) {}
    virtual ~fiber_properties() = default;
    fiber_properties(const fiber_properties&) = default;
    fiber_properties& operator=(const fiber_properties&) = default;

    int priority; // higher runs first, where the order asks for it

private:
    friend class sched::fiber_block;
    struct mark { // of an object, not of its value
        mark() noexcept = default;
        mark(const mark&) noexcept {}
        mark& operator=(const mark&) noexcept { return *this; }
        base::atomic<bool> set{false};
    };
    mark given_; // a fiber has them
};

// Something that is ready: a fiber (new, woken or yielding), or another piece of the runtime's
// work.
using ready_item = sched::runnable;
using ready_list = base::intrusive_queue<ready_item>;

// Null: it is no fiber, or one that was given none. To be asked inside an order's functions only.
const fiber_properties* properties_of(const ready_item& item) noexcept;
inline int priority_of(const ready_item& item) noexcept {
    const fiber_properties* known = properties_of(item);
    return known ? known->priority : 0;
}

// Decides in which order ready work runs: a queue for the runtime's workers. A user's own class
// derives from it and is given to a runtime with runtime_options::order.
//
// The scheduler calls the functions from many threads, but one at a time, under a spin lock. So
// they need no lock of their own, must be short, must not throw, and must call nothing of the
// library but what is in this file. Items are linked, not copied: `ready_list` holds them without
// allocating. What is pinned to a worker, and forks and children of fork_join, do not come this
// way.
class scheduling_order {
public:
    virtual ~scheduling_order() = default;

    // Takes over an item, which is in no list.
    virtual void push(ready_item& item) noexcept = 0;
    // Gives away the item to run next. Null: there is none.
    virtual ready_item* pop() noexcept = 0;
    // Gives away this item, which is here: its properties are about to change. It is pushed again
    // afterwards.
    virtual void remove(ready_item& item) noexcept = 0;
};

// For runtime_options::order.
template <class Order>
std::unique_ptr<scheduling_order> make_order() {
    return std::make_unique<Order>();
}

// Highest priority first; arrival order within one. Lower ones wait as long as higher ones are
// ready. Priorities from `lowest` to `highest`; what lies outside counts as the nearest of them.
class priority_order final : public scheduling_order {
public:
    static constexpr int lowest = -16, highest = 15;

    void push(ready_item& item) noexcept override;
    ready_item* pop() noexcept override;
    void remove(ready_item& item) noexcept override;

private:
    std::array<ready_list, highest - lowest + 1> levels_;
    std::uint32_t used_ = 0; // a bit for each level
};

} // namespace sennit
