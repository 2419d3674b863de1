// SPDX-License-Identifier: Apache-2.0
// The type-independent part of a task graph: its nodes and edges, and the protocol of a run.
//
// Which threads run this: the thread that builds the graph; in a run, the runner and the workers
// that take part (joint_run.hpp). State:
//
//   field                       written by                        guarded by
//   nodes_, links_, names_      the builder                       no run is in progress
//   edges_, records_ without    freeze                            no run is in progress
//     `pending`
//   record::pending             freeze; the workers of a run      atomic
//   times_                      the worker that runs the node     the end of the run
//   running_                    run                               atomic
//   current_                    run; read by cancel               cancel_mutex_
//
// Protocol of a run. A piece of work (work_item) is a range of `edges_`, whose targets are ready.
// `edges_` ends with the sources of the graph, so that a run begins with a range, too.
//   G1  A worker halves a range of several edges and offers the upper half, until one is left.
//   G2  It runs the node of that edge.
//   G3  For each successor with several predecessors it decrements `pending`. If it would be the
//       last to do so, the successor is ready, and the worker writes the initial value back, for
//       the next run. A successor with one predecessor is ready without an access to `pending`.
//   G4  The worker runs the first ready successor next. It offers the other successors, a range for
//       each group of neighbours in `edges_`. Without a successor it takes an offer back.
// A node with tokens (`par::uses`) that finds none free is put into the queue of the tokens between
// G1 and G2. It counts as an open visit of the run there, and the worker continues without it.
//
// Why it is correct. Each predecessor of a node passes G3 once, after its own G2. Its decrement
// releases, and the last one acquires, so the node sees the results of all predecessors. The last
// worker reads `pending == 1` with one acquiring load, and needs no locked instruction: all other
// decrements are done then, and belong to one release sequence. No other worker touches `pending`
// in the same run afterwards, and the end of the run orders the write before the next run. A node
// that was dropped leaves its successors' counters behind, so a run that did not succeed makes the
// next one write all counters again (`dirty_`).
//
// Tested by tests/unit/par/task_graph*_test.cpp, tests/stress/graphs_test.cpp and the explorer's
// group `task_graph`.
#pragma once

#include "par/joint_run.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/mutex.hpp"
#include "sennit/par/task_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::par::detail {

struct graph_run;

// A node that uses tokens, and its place in their queue or, with a token, in the run queue.
struct limited_node : sched::runnable {
    limited_node(tokens& which, void* function_body, node_function function,
                 std::uint32_t number) noexcept
        : runnable(&limited_node::start), limit(which), body(function_body), call(function),
          index(number) {}

    enum class acquired { yes, queued, cancelled };
    acquired acquire(graph_run& for_run) noexcept;
    void release() noexcept;
    // Removes the node from the queue, if it is there, and closes its visit.
    void leave_queue() noexcept;

    tokens& limit;
    void* const body;
    const node_function call;
    const std::uint32_t index;

private:
    static void start(runnable* self) noexcept;
    // Guarded by limit.lock_.
    graph_run* run_ = nullptr;
    bool queued_ = false;
};

class graph_core {
public:
    ~graph_core();

    void* allocate(std::size_t bytes, std::size_t alignment);
    std::uint32_t publish(void* body, const node_kind& kind, std::span<const std::uint32_t> inputs,
                          tokens* limit);
    void add_edge(std::uint32_t from, std::uint32_t to);
    void set_name(std::uint32_t index, std::string_view text);
    std::string name_of(std::uint32_t index) const;

    void run();
    void run_from(std::span<const std::uint32_t> first);
    void cancel() noexcept;

    void measure(bool on);
    graph_report report() const;
    void write_dot(std::ostream& out) const;
    std::size_t size() const noexcept { return nodes_.size(); }

private:
    friend struct graph_run;
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct node_entry {
        void* body;
        const node_kind* kind;
        limited_node* limit; // null: no tokens; lies in the graph's memory
    };
    struct link {
        std::uint32_t from;
        std::uint32_t to;
    };
    // All that a run needs of a node.
    struct record {
        base::atomic<std::uint32_t> pending{0};
        std::uint32_t predecessors = 0;
        std::uint32_t first_edge = 0;
        std::uint32_t end_edge = 0;
        node_function call = nullptr; // null: `body` is a limited_node
        void* body = nullptr;
    };
    // Marks the graph as running for as long as the object lives.
    class running_mark;

    void check_idle() const noexcept;
    void freeze();
    void sort_edges();
    void find_order();
    [[noreturn]] void report_cycle(const std::vector<std::uint32_t>& left) const;
    work_item reach(std::span<const std::uint32_t> first);
    void reset_counters() noexcept;
    void start(work_item first);
    void start_here(work_item first);

    std::vector<node_entry> nodes_;
    std::vector<link> links_;
    std::vector<std::string> names_; // empty, or shorter than nodes_: the rest has no names
    std::vector<std::unique_ptr<std::byte[]>> memory_; // of bodies and limited nodes
    std::byte* free_ = nullptr;
    std::size_t left_ = 0;

    bool frozen_ = false;
    bool dirty_ = false;    // the counters of the last run may be wrong
    bool complete_ = false; // every node has a result
    bool measured_ = false;
    std::unique_ptr<record[]> records_;
    std::vector<std::uint32_t>
        edges_; // targets by source, then all sources, then those of run_from
    std::uint32_t sources_begin_ = 0;
    std::uint32_t sources_end_ = 0;
    std::vector<std::uint32_t> order_;   // a topological order of the nodes
    std::vector<std::uint32_t> reached_; // by run_from: the number of the search
    std::uint32_t search_ = 0;
    std::vector<limited_node*> limited_;
    std::vector<std::int64_t> times_; // nanoseconds; empty: never measured

    base::atomic<std::uint32_t> running_{0};
    sennit::mutex cancel_mutex_; // guards current_
    graph_run* current_ = nullptr;
};

struct graph_run : joint_run {
    explicit graph_run(graph_core& whose) noexcept;

    static void step(joint_run& run, visit& who, work_item what) noexcept;
    static void overflow(joint_run& run, std::span<const work_item> items) noexcept;
    static void abandon(joint_run& run) noexcept;

    // The item of a node that holds its token: {index, holds_token}.
    static constexpr std::uint32_t holds_token = std::numeric_limits<std::uint32_t>::max();

private:
    using record = graph_core::record;
    static constexpr std::uint32_t none = graph_core::none;
    static const functions of_graphs;

    // Both return the next node of the calling worker, or none.
    std::uint32_t run_node(visit& who, std::uint32_t index) noexcept;
    std::uint32_t run_with_token(visit& who, std::uint32_t index) noexcept;
    // Returns false if the call has thrown.
    bool call(std::uint32_t index, node_function function, void* body) noexcept;
    void failed(std::uint32_t index) noexcept;
    void trace(std::uint32_t index) const noexcept;
    std::uint32_t find_ready(visit& who, const record& ended) noexcept;

    graph_core& graph_;
    record* const records_;
    const std::uint32_t* const edges_;
    std::int64_t* const times_; // null: the run is not measured
    const bool traces_;
};

} // namespace sennit::par::detail
