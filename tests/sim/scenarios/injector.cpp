// SPDX-License-Identifier: Apache-2.0
// The queue of the injector, which also holds woken and spawned tasks:
// src/core/queues/shared_queue.hpp.
#include "explorer/sim.hpp"

#include "core/queues/shared_queue.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"

#include <array>

namespace sim = sennit::sim;

namespace {

struct item : sennit::sched::runnable {
    item() : runnable(nullptr) {}
    sim::var<int> runs{0};
    void take() { runs = runs + 1; }
};

item* popped(sennit::sched::runnable* one) {
    return static_cast<item*>(one);
}

} // namespace

SIM_SCENARIO_WITHIN(injector, injector_gives_each_item_to_one_consumer, .preemptions = 2,
                    .stale_reads = 2) {
    sennit::sched::shared_queue queue;
    std::array<item, 2> items;
    for (item& one : items) queue.push(one);
    sim::in_threads(2, [&](unsigned me) {
        if (item* mine = popped(me == 0 ? queue.pop() : queue.pop())) mine->take();
    });
    for (const item& one : items) sim::check(one.runs == 1, "each item was taken once");
    sim::check(queue.empty(), "the queue is empty");
}

SIM_SCENARIO_WITHIN(injector, push_publishes_earlier_writes, .preemptions = 2, .stale_reads = 2) {
    sennit::sched::shared_queue queue;
    item one;
    sim::thread producer([&] {
        one.take();
        queue.push(one);
    });
    item* mine = nullptr;
    while (!(mine = popped(queue.pop()))) sennit::sys::cpu_relax();
    mine->take();
    producer.join();
    sim::check(one.runs == 2, "both threads have changed the item");
}

SIM_SCENARIO_WITHIN(injector, injector_keeps_order, .preemptions = 2, .stale_reads = 1) {
    sennit::sched::shared_queue queue;
    std::array<item, 2> items;
    sim::thread producer([&] {
        for (item& one : items) queue.push(one);
    });
    item* first = nullptr;
    while (!(first = popped(queue.pop()))) sennit::sys::cpu_relax();
    sim::check(first == &items[0], "the oldest item comes first");
    producer.join();
    sim::check(queue.pop() == &items[1], "then the other item comes");
}

SIM_SCENARIO_WITHIN(injector, many_threads_share_injector, .preemptions = 2, .stale_reads = 1) {
    sennit::sched::shared_queue queue;
    std::array<item, 3> items;
    queue.push(items[0]);
    sim::in_threads(3, [&](unsigned me) {
        if (me < 2) queue.push(items[me + 1]);
        if (item* mine = popped(queue.pop())) mine->take();
    });
    int taken = 0;
    for (const item& one : items) taken += one.runs;
    while (popped(queue.pop())) ++taken;
    sim::check(taken == 3, "no item is lost or taken twice");
}
