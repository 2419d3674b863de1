// SPDX-License-Identifier: Apache-2.0
// Task graphs: the counters of src/par/graph_run.cpp, the visits of src/par/joint_run.cpp and the
// detached forks of src/core/fork/steal_fork.cpp.
#include "engine.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/par/task_graph.hpp"

#include <utility>

namespace {

using sennit::par::task_graph;

} // namespace

// Two predecessors end at the same time. The successor runs once and sees the writes of both.
SIM_SCENARIO_WITHIN(task_graph, two_predecessors_end_at_once, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    sim::var<int> a{0}, b{0}, runs{0};
    task_graph g;
    auto first = g.add([&] { a = 1; });
    auto second = g.add([&] { b = 1; });
    g.add(
        [&] {
            sim::check(a == 1 && b == 1, "the writes of the predecessors are visible");
            runs = runs + 1;
        },
        first, second);
    two.run([&] { g.run(); });
    sim::check(runs == 1, "the successor has run once");
}

// The last decrement writes the counter back for the next run, which other workers read.
SIM_SCENARIO_WITHIN(task_graph, counters_serve_next_run, .preemptions = 1, .stale_reads = 1) {
    engine two(2);
    sim::var<int> runs{0};
    task_graph g;
    auto first = g.add([] {});
    auto second = g.add([] {});
    g.add([&] { runs = runs + 1; }, first, second);
    two.run([&] {
        g.run();
        g.run();
    });
    sim::check(runs == 2, "the successor has run once in each run");
}

// The runner's only offer is stolen while the runner has no other work. The run ends with the
// thief's visit, and the graph is destroyed right afterwards.
SIM_SCENARIO_WITHIN(task_graph, runner_is_stolen_empty, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    sim::var<int> left{0}, right{0};
    two.run([&] {
        auto g = std::make_unique<task_graph>();
        g->add([&] { left = 1; });
        g->add([&] { right = 1; });
        g->run();
        sim::check(left == 1 && right == 1, "run returns behind the visit of the thief");
        g.reset();
    });
}

// A node blocks until another node has run, whose offer lies in the fork stack of the blocked one.
SIM_SCENARIO_WITHIN(task_graph, node_blocks_while_it_holds_offers, .preemptions = 2,
                    .stale_reads = 0) {
    engine two(2);
    sennit::sched::one_shot other;
    sim::var<int> value{0};
    task_graph g;
    auto first = g.add([&] {
        other.wait();
        sim::check(value == 1, "the other node has run");
    });
    auto second = g.add([&] {
        value = 1;
        other.finish();
    });
    g.add([&] { value = 2; }, first, second);
    two.run([&] { g.run(); });
    sim::check(value == 2, "the last node has run");
}

// More ready nodes than a visit has slots: the older half becomes a task.
SIM_SCENARIO_WITHIN(task_graph, offers_overflow_into_run_queue, .preemptions = 1,
                    .stale_reads = 0) {
    engine two(2);
    sennit::base::atomic<int> runs{0};
    task_graph g;
    auto last = g.add([&] { runs.fetch_add(1); });
    for (int i = 0; i < 5; ++i) {
        auto next = g.add([&] { runs.fetch_add(1); }, last);
        g.add([&] { runs.fetch_add(1); }, last);
        last = next;
    }
    two.run([&] { g.run(); });
    sim::check(runs.load() == 11, "each node has run once");
}

// Another thread cancels between the decrement of the counter and the start of the node.
SIM_SCENARIO_WITHIN(task_graph, cancel_races_start_of_node, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::sched::one_shot ready, asked;
    task_graph g;
    auto first = g.add([&] { ready.finish(); });
    sim::var<int> last{0};
    g.add([&] { last = 1; }, first);
    sim::thread canceller([&] {
        ready.wait();
        g.cancel();
        asked.finish();
    });
    bool cancelled = false;
    one.run([&] {
        try {
            g.run();
        } catch (const sennit::cancelled&) {
            cancelled = true;
        }
        asked.wait();
    });
    sim::check(cancelled == (last == 0), "run throws if and only if a node was dropped");
    canceller.join();
}

// The exception of the lower node wins, whichever comes first.
SIM_SCENARIO_WITHIN(task_graph, error_of_lower_node_wins, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    task_graph g;
    int started = 0;
    sennit::base::atomic<int> entered{0};
    for (int i = 0; i < 2; ++i)
        g.add([&, i] {
            entered.fetch_add(1);
            throw i;
        });
    int caught = -1;
    two.run([&] {
        try {
            g.run();
        } catch (int which) {
            caught = which;
        }
    });
    started = entered.load();
    sim::check(caught == 0 || (caught == 1 && started == 1), "the lower error has arrived");
}

// A node that waits for a token starts when the token comes back, on either worker.
SIM_SCENARIO_WITHIN(task_graph, token_passes_to_waiting_node, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    sennit::par::tokens single(1);
    sim::var<int> inside{0};
    task_graph g;
    for (int i = 0; i < 2; ++i)
        g.add([&] { inside = inside + 1; }, sennit::par::uses(single)); // a race if both run
    two.run([&] { g.run(); });
    sim::check(inside == 2, "both nodes have run");
}

// The run is cancelled while a node waits for a token that never comes.
SIM_SCENARIO_WITHIN(task_graph, cancelled_run_leaves_queue_of_tokens, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    sennit::par::tokens none(0);
    sennit::sched::one_shot ready, asked;
    task_graph g;
    g.add([] { sim::check(false, "there is no token"); }, sennit::par::uses(none));
    g.add([&] { ready.finish(); });
    sim::thread canceller([&] {
        ready.wait();
        g.cancel();
        asked.finish();
    });
    bool cancelled = false;
    one.run([&] {
        try {
            g.run();
        } catch (const sennit::cancelled&) {
            cancelled = true;
        }
        asked.wait();
    });
    sim::check(cancelled, "run has thrown");
    canceller.join();
}
