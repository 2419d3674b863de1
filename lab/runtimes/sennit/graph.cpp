// SPDX-License-Identifier: Apache-2.0
// A par::task_graph, and par::pipeline.
#include "graph/main.hpp"
#include "with_runtime.hpp"

#include <sennit/par.hpp>

#include <optional>
#include <vector>

namespace {

struct with_graphs : with_runtime {
    using with_runtime::with_runtime;

    // excerpt graph
    template <class Body>
    struct graph {
        with_graphs& owner;
        sennit::par::task_graph flow;
        std::vector<sennit::par::node<void>> nodes;
        graph(with_graphs& runtime, std::uint32_t count, Body body) : owner(runtime) {
            for (std::uint32_t i = 0; i < count; ++i)
                nodes.push_back(flow.add([body, i] { body(i); }));
        }
        void edge(std::uint32_t from, std::uint32_t to) { nodes[from].before(nodes[to]); }
        void repeat(int rounds) {
            owner.run([&] {
                for (int i = 0; i < rounds; ++i) flow.run();
            });
        }
    };
    // excerpt end

    template <class Source, class Change, class Sink>
    void pipeline(std::size_t limit, Source source, Change change, Sink sink) {
        run([&] {
            sennit::par::pipeline(
                limit,
                [&]() -> std::optional<std::int64_t> {
                    std::int64_t i = 0;
                    if (!source(i)) return std::nullopt;
                    return i;
                },
                sennit::par::parallel(change), sennit::par::in_order(sink));
        });
    }
};

} // namespace

std::optional<int> lab::run_graph(const std::string& name, const std::string& size,
                                  unsigned threads) {
    return graphs<with_graphs>::run(name, size, threads);
}
