// SPDX-License-Identifier: Apache-2.0
// Scheduling policies, properties of fibers, and user-defined orders. Most programs need none of
// this: the default keeps all workers busy and is the fastest.
//
//     sennit::runtime same_each_time({.workers = 1, .policy = sennit::scheduling::round_robin});
//     sennit::runtime by_priority({.order = sennit::make_order<sennit::priority_order>});
//     sennit::fiber urgent({.runtime = &by_priority, .priority = 5}, handle_alarm);
//
// A policy decides which ready task runs next, and on which worker. There are three policies:
// * `stealing`, the default: each worker has a queue of its own, and idle workers steal from busy
//   workers.
// * `sharing`: one queue for all workers. Its order may be user-defined: see `scheduling_order`.
// * `round_robin`: a task stays on the worker on which it starts, in arrival order. Nothing is
//   stolen, so one worker runs the same program in the same order each time.
//
// The guide, docs/guide/scheduling.md, shows how to write an order, by the example of earliest
// deadline first.
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
    // SENNIT_SCHEDULING if set (stealing, sharing, round-robin or priority), else stealing.
    automatic,
    stealing,
    sharing,
    round_robin,
};

// The data that a scheduling order knows of a fiber. Derive from it to give more data to an order
// of your own: a deadline, a tenant. Set it with fiber_attributes::properties, for one fiber at a
// time. Change it only with fiber::change_properties, so that the scheduler can move the fiber in
// its queue.
class fiber_properties {
public:
    explicit fiber_properties(int urgency = 0) noexcept : priority(urgency) {}
    virtual ~fiber_properties() = default;
    fiber_properties(const fiber_properties&) = default;
    fiber_properties& operator=(const fiber_properties&) = default;

    int priority; // the order runs a higher priority first, if it uses priorities

private:
    friend class sched::fiber_block;
    struct mark { // a mark of one object; copies of the value do not carry it
        mark() noexcept = default;
        mark(const mark&) noexcept {}
        mark& operator=(const mark&) noexcept { return *this; }
        base::atomic<bool> set{false};
    };
    mark given_; // set once a fiber has this object
};

// A ready task: a fiber (new, woken or yielding), or an internal task of the runtime.
using ready_item = sched::runnable;
using ready_list = base::intrusive_queue<ready_item>;

// Returns the properties of the fiber, or null for an item that is no fiber or has no properties.
// Call it only inside the functions of an order.
const fiber_properties* properties_of(const ready_item& item) noexcept;
inline int priority_of(const ready_item& item) noexcept {
    const fiber_properties* known = properties_of(item);
    return known ? known->priority : 0;
}

// Decides in which order ready tasks run: a queue for the runtime's workers. Derive from it, and
// give the class to a runtime with runtime_options::order.
// derives from it and is given to a runtime with runtime_options::order.
// The scheduler calls the functions from many threads, but one at a time, under a spin lock. The
// functions need no lock of their own. They must be short, must not throw, and may call nothing of
// the library except the functions of this file. Items are linked, not copied: `ready_list` holds
// them without allocating. Tasks pinned to a worker, forks and children of fork_join do not pass
// through an order.
class scheduling_order {
public:
    virtual ~scheduling_order() = default;

    // Takes over an item that is in no list.
    virtual void push(ready_item& item) noexcept = 0;
    // Removes and returns the item to run next; null if there is none.
    virtual ready_item* pop() noexcept = 0;
    // Removes this item, which is in the order, because its properties are about to change. The
    // scheduler pushes it again afterwards.
    virtual void remove(ready_item& item) noexcept = 0;
};

// Creates an order of class Order, for runtime_options::order.
template <class Order>
std::unique_ptr<scheduling_order> make_order() {
    return std::make_unique<Order>();
}

// Runs the highest priority first, and items of the same priority in arrival order. Items of a
// lower priority wait as long as items of a higher priority are ready. Priorities reach from
// `lowest` to `highest`; a priority outside counts as the nearest of them.
class priority_order final : public scheduling_order {
public:
    static constexpr int lowest = -16, highest = 15;

    void push(ready_item& item) noexcept override;
    ready_item* pop() noexcept override;
    void remove(ready_item& item) noexcept override;

private:
    std::array<ready_list, highest - lowest + 1> levels_;
    std::uint32_t used_ = 0; // one bit per level that has items
};

} // namespace sennit
