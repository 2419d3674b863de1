// SPDX-License-Identifier: Apache-2.0
// A flow graph of continue_nodes, and parallel_pipeline.
#include "graph/main.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>
#include <memory>
#include <vector>

namespace {

struct with_tbb_graphs {
    tbb::global_control control;
    tbb::task_arena arena;
    explicit with_tbb_graphs(unsigned threads)
        : control(tbb::global_control::max_allowed_parallelism, threads),
          arena(static_cast<int>(threads)) {}

    // excerpt graph
    template <class Body>
    struct graph {
        using message = tbb::flow::continue_msg;
        using node = tbb::flow::continue_node<message>;
        tbb::task_arena& arena;
        std::unique_ptr<tbb::flow::graph> flow; // belongs to the arena in which it was made
        std::deque<node> nodes;
        std::vector<bool> waits; // whether a node has a predecessor
        graph(with_tbb_graphs& runtime, std::uint32_t count, Body body)
            : arena(runtime.arena), waits(count) {
            arena.execute([&] {
                flow = std::make_unique<tbb::flow::graph>();
                for (std::uint32_t i = 0; i < count; ++i)
                    nodes.emplace_back(*flow, [body, i](const message& m) {
                        body(i);
                        return m;
                    });
            });
        }
        ~graph() {
            arena.execute([&] {
                nodes.clear();
                flow.reset();
            });
        }
        void edge(std::uint32_t from, std::uint32_t to) {
            tbb::flow::make_edge(nodes[from], nodes[to]);
            waits[to] = true;
        }
        void repeat(int rounds) {
            arena.execute([&] {
                for (int i = 0; i < rounds; ++i) {
                    for (std::size_t node = 0; node < nodes.size(); ++node)
                        if (!waits[node]) nodes[node].try_put(message());
                    flow->wait_for_all();
                }
            });
        }
    };
    // excerpt end

    template <class Source, class Change, class Sink>
    void pipeline(std::size_t limit, Source source, Change change, Sink sink) {
        arena.execute([&] {
            tbb::parallel_pipeline(limit, tbb::make_filter<void, std::int64_t>(
                                              tbb::filter_mode::serial_in_order,
                                              [&](tbb::flow_control& control) -> std::int64_t {
                                                  std::int64_t i = 0;
                                                  if (!source(i)) control.stop();
                                                  return i;
                                              }) &
                                              tbb::make_filter<std::int64_t, std::int64_t>(
                                                  tbb::filter_mode::parallel, change) &
                                              tbb::make_filter<std::int64_t, void>(
                                                  tbb::filter_mode::serial_in_order, sink));
        });
    }
};

} // namespace

std::optional<int> lab::run_graph(const std::string& name, const std::string& size,
                                  unsigned threads) {
    return graphs<with_tbb_graphs>::run(name, size, threads);
}
