// SPDX-License-Identifier: Apache-2.0
// Scopes: children, errors and cancellation: src/fork_join/scope.cpp.
#include "engine.hpp"

SIM_SCENARIO_WITHIN(scope, scope_joins_children, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sim::var<int> a{0}, b{0};
    two.run([&] {
        sennit::scope children;
        children.spawn([&] { a = a + 1; });
        children.spawn([&] { b = b + 1; });
        children.join();
        sim::check(a == 1 && b == 1, "each child has run once");
    });
}

SIM_SCENARIO_WITHIN(scope, error_reaches_join_and_drops_remaining_children, .preemptions = 2,
                    .stale_reads = 1) {
    engine two(2);
    sennit::base::atomic<int> runs{0};
    bool caught = false;
    two.run([&] {
        sennit::scope children;
        children.spawn([&] { runs.fetch_add(1); });
        children.spawn([] { throw failure(); });
        try {
            children.join();
        } catch (const failure&) {
            caught = true;
        }
    });
    sim::check(caught && runs.load() <= 1, "the error arrived");
}

// Another thread requests a stop while children start.
SIM_SCENARIO_WITHIN(scope, scope_is_cancelled_from_outside, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::scope* shared = nullptr;
    sennit::sched::one_shot ready, asked;
    sim::thread canceller([&] {
        ready.wait();
        shared->request_stop();
        asked.finish();
    });
    sennit::base::atomic<int> runs{0};
    one.run([&] {
        sennit::scope children;
        shared = &children;
        children.spawn([&] { runs.fetch_add(1); });
        ready.finish();
        children.spawn([&] { runs.fetch_add(1); });
        asked.wait();
        children.spawn([&] { runs.fetch_add(100); });
        children.join();
    });
    sim::check(runs.load() <= 2, "no child starts after the request");
    canceller.join();
}

// Like std::stop_token: a thread that sees the request sees the writes before it.
SIM_SCENARIO_WITHIN(scope, stop_request_publishes_earlier_writes, .preemptions = 2,
                    .stale_reads = 2) {
    engine one(1);
    sennit::scope* shared = nullptr;
    sennit::sched::one_shot ready, asked;
    sim::var<int> reason{0};
    sim::thread canceller([&] {
        ready.wait();
        reason = 42;
        shared->request_stop();
        asked.finish();
    });
    one.run([&] {
        sennit::scope children;
        shared = &children;
        ready.finish();
        while (!children.stop_requested()) sennit::sys::cpu_relax();
        sim::check(reason == 42, "the reason is visible");
        asked.wait(); // the call must have returned before the scope ends
    });
    canceller.join();
}

// A child spawns a sibling, perhaps from another worker; the join waits for the sibling, too.
SIM_SCENARIO_WITHIN(scope, children_spawn_siblings, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    sim::var<int> sibling{0};
    two.run([&] {
        sennit::scope children;
        children.spawn([&] { children.spawn([&] { sibling = 1; }); });
        children.join();
        sim::check(sibling == 1, "the sibling has run");
    });
}

// The scope is destroyed right after the join: the last child must not touch it then.
SIM_SCENARIO_WITHIN(scope, scope_may_be_destroyed_after_join, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    two.run([] {
        auto children = std::make_unique<sennit::scope>();
        children->spawn([big = std::make_unique<int>(1)] { (void)big; });
        children->join();
        children.reset();
    });
}
