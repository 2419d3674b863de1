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

SIM_SCENARIO_WITHIN(cancel_scope, a_cancel_meets_a_wait_that_begins, .preemptions = 3,
                    .stale_reads = 2) {
    cancel_scope scope(nullptr);
    sim::var<int> why{0};
    sim::thread canceller([&] {
        why = 42;
        scope.cancel();
    });
    sim::check(wait_in(scope) == wake_reason::cancelled, "nothing else ends the wait");
    sim::check(why == 42, "what came before the cancel is seen");
    canceller.join();
}

SIM_SCENARIO_WITHIN(cancel_scope, whoever_sees_it_cancelled_sees_what_came_before, .preemptions = 2,
                    .stale_reads = 2) {
    cancel_scope scope(nullptr);
    sim::var<int> why{0};
    sim::thread canceller([&] {
        why = 42;
        scope.cancel();
    });
    while (!scope.cancelled()) sennit::sys::cpu_relax();
    sim::check(why == 42, "what came before the cancel is seen");
    canceller.join();
}

// The scope is below one that is cancelled, perhaps before it is made.
SIM_SCENARIO_WITHIN(cancel_scope, a_cancel_meets_a_child_that_is_born, .preemptions = 3,
                    .stale_reads = 2) {
    cancel_scope parent(nullptr);
    sim::thread canceller([&] { parent.cancel(); });
    {
        cancel_scope child(&parent);
        sim::check(wait_in(child) == wake_reason::cancelled, "nothing else ends the wait");
    }
    canceller.join();
}

// Two levels, cancelled at both ends at once: the wait is ended once.
SIM_SCENARIO_WITHIN(cancel_scope, a_child_and_its_parent_are_cancelled_at_once, .preemptions = 2,
                    .stale_reads = 1) {
    cancel_scope root(nullptr);
    cancel_scope middle(&root);
    cancel_scope child(&middle);
    sim::thread first([&] { root.cancel(); });
    sim::thread second([&] { child.cancel(); });
    sim::check(wait_in(child) == wake_reason::cancelled, "nothing else ends the wait");
    first.join();
    second.join();
    sim::check(middle.cancelled() && child.cancelled(), "all below are cancelled");
}

// A child goes, and its memory with it, while its parent is being cancelled.
SIM_SCENARIO_WITHIN(cancel_scope, a_child_dies_while_its_parent_is_cancelled, .preemptions = 3,
                    .stale_reads = 1) {
    cancel_scope parent(nullptr);
    cancel_scope sibling(&parent);
    auto child = std::make_unique<cancel_scope>(&parent);
    sim::thread canceller([&] { parent.cancel(); });
    if (child->cancelled()) child.reset(); // as soon as it is seen
    child.reset();
    canceller.join();
    sim::check(sibling.cancelled(), "who is left is cancelled");
}

// The wait's frame, and with it the point that the scope knew, is gone when the cancel looks.
SIM_SCENARIO_WITHIN(cancel_scope, a_cancel_comes_after_the_wait_has_ended, .preemptions = 3,
                    .stale_reads = 1) {
    cancel_scope scope(nullptr);
    sim::thread canceller([&] { scope.cancel(); });
    {
        in_scope here(scope);
        auto point = std::make_unique<wait_point>();
        (void)claim(*point, wake_reason::source); // over before it begins
        sim::check(wait(*point, nullptr, nullptr) == wake_reason::source, "the first claim stands");
    }
    canceller.join();
}

// A fiber's wait: it is saved while the cancel comes.
SIM_SCENARIO_WITHIN(cancel_scope, a_contexts_wait_is_cancelled, .preemptions = 2,
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
