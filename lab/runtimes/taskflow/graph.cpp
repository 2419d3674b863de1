// SPDX-License-Identifier: Apache-2.0
// A tf::Taskflow that the executor runs again and again, and tf::Pipeline, which keeps no values:
// the buffer for each line is the program's.
#include "graph/main.hpp"

#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>

#include <vector>

namespace {

struct with_taskflow_graphs {
    tf::Executor executor;
    explicit with_taskflow_graphs(unsigned threads) : executor(threads) {}

    // excerpt graph
    template <class Body>
    struct graph {
        tf::Executor& executor;
        tf::Taskflow flow;
        std::vector<tf::Task> nodes;
        graph(with_taskflow_graphs& runtime, std::uint32_t count, Body body)
            : executor(runtime.executor) {
            for (std::uint32_t i = 0; i < count; ++i)
                nodes.push_back(flow.emplace([body, i] { body(i); }));
        }
        void edge(std::uint32_t from, std::uint32_t to) { nodes[from].precede(nodes[to]); }
        void repeat(int rounds) {
            for (int i = 0; i < rounds; ++i) executor.run(flow).wait();
        }
    };
    // excerpt end

    template <class Source, class Change, class Sink>
    void pipeline(std::size_t limit, Source source, Change change, Sink sink) {
        std::vector<std::int64_t> values(limit);
        tf::Pipeline stages(
            limit,
            tf::Pipe{tf::PipeType::SERIAL,
                     [&](tf::Pipeflow& at) {
                         if (!source(values[at.line()])) at.stop();
                     }},
            tf::Pipe{tf::PipeType::PARALLEL,
                     [&](tf::Pipeflow& at) { values[at.line()] = change(values[at.line()]); }},
            tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow& at) { sink(values[at.line()]); }});
        tf::Taskflow flow;
        flow.composed_of(stages);
        executor.run(flow).wait();
    }
};

} // namespace

std::optional<int> lab::run_graph(const std::string& name, const std::string& size,
                                  unsigned threads) {
    return graphs<with_taskflow_graphs>::run(name, size, threads);
}
