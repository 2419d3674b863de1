// SPDX-License-Identifier: Apache-2.0
// Scopes of cancellation against waits, children and each other: src/core/wait/cancel_scope.cpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/wait.hpp"

#include <mutex>

namespace {

using namespace sennit::sched;

wake_reason wait_in(cancel_scope& scope) {
    in_scope here(scope);
    wait_point point;
    return wait(point, nullptr, nullptr);
}

} // namespace

SIM_SCENARIO_WITHIN(cancel_scope, cancel_races_start_of_wait, .preemptions = 3, .stale_reads = 2) {
    cancel_scope scope(nullptr);
    sim::var<int> why{0};
    sim::thread canceller([&] {
        why = 42;
        scope.cancel();
    });
    sim::check(wait_in(scope) == wake_reason::cancelled, "nothing else ends the wait");
    sim::check(why == 42, "the write before the cancel is visible");
    canceller.join();
}

SIM_SCENARIO_WITHIN(cancel_scope, cancelled_publishes_writes_before_cancel, .preemptions = 2,
                    .stale_reads = 2) {
    cancel_scope scope(nullptr);
    sim::var<int> why{0};
    sim::thread canceller([&] {
        why = 42;
        scope.cancel();
    });
    while (!scope.cancelled()) sennit::sys::cpu_relax();
    sim::check(why == 42, "the write before the cancel is visible");
    canceller.join();
}

// The scope's parent is cancelled, perhaps before the scope is created.
SIM_SCENARIO_WITHIN(cancel_scope, cancel_races_creation_of_child, .preemptions = 3,
                    .stale_reads = 2) {
    cancel_scope parent(nullptr);
    sim::thread canceller([&] { parent.cancel(); });
    {
        cancel_scope child(&parent);
        sim::check(wait_in(child) == wake_reason::cancelled, "nothing else ends the wait");
    }
    canceller.join();
}

// Two levels are cancelled concurrently: the wait is ended once.
SIM_SCENARIO_WITHIN(cancel_scope, child_and_parent_are_cancelled_concurrently, .preemptions = 2,
                    .stale_reads = 1) {
    cancel_scope root(nullptr);
    cancel_scope middle(&root);
    cancel_scope child(&middle);
    sim::thread first([&] { root.cancel(); });
    sim::thread second([&] { child.cancel(); });
    sim::check(wait_in(child) == wake_reason::cancelled, "nothing else ends the wait");
    first.join();
    second.join();
    sim::check(middle.cancelled() && child.cancelled(), "all scopes below are cancelled");
}

// A child scope and its memory go away while its parent is being cancelled.
SIM_SCENARIO_WITHIN(cancel_scope, child_is_destroyed_while_parent_is_cancelled, .preemptions = 3,
                    .stale_reads = 1) {
    cancel_scope parent(nullptr);
    cancel_scope sibling(&parent);
    auto child = std::make_unique<cancel_scope>(&parent);
    sim::thread canceller([&] { parent.cancel(); });
    if (child->cancelled()) child.reset(); // as soon as the cancellation is visible
    child.reset();
    canceller.join();
    sim::check(sibling.cancelled(), "the remaining scope is cancelled");
}

// The wait's frame, with the wait point that the scope knew, is gone when the canceller looks.
SIM_SCENARIO_WITHIN(cancel_scope, cancel_comes_after_end_of_wait, .preemptions = 3,
                    .stale_reads = 1) {
    cancel_scope scope(nullptr);
    sim::thread canceller([&] { scope.cancel(); });
    {
        in_scope here(scope);
        auto point = std::make_unique<wait_point>();
        (void)claim(*point, wake_reason::source); // claimed before the wait begins
        sim::check(wait(*point, nullptr, nullptr) == wake_reason::source, "the first claim stands");
    }
    canceller.join();
}

// A fiber's wait: the fiber is being saved while the cancel comes.
SIM_SCENARIO_WITHIN(cancel_scope, wait_of_context_is_cancelled, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    cancel_scope scope(nullptr);
    event ready;
    sim::thread canceller([&] {
        ready.wait();
        scope.cancel();
    });
    one.run([&] {
        ready.set();
        sim::check(wait_in(scope) == wake_reason::cancelled, "nothing else ends the wait");
    });
    canceller.join();
}
