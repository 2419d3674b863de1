// SPDX-License-Identifier: Apache-2.0
// The floor: the nodes in the order in which they were added, as a plain loop.
#include "graph/main.hpp"

namespace {

struct plain_loops {
    explicit plain_loops(unsigned) {}

    template <class Body>
    struct graph {
        std::uint32_t count;
        Body body;
        graph(plain_loops&, std::uint32_t nodes, Body given) : count(nodes), body(given) {}
        void edge(std::uint32_t, std::uint32_t) {}
        void repeat(int rounds) {
            for (int round = 0; round < rounds; ++round)
                for (std::uint32_t i = 0; i < count; ++i) body(i);
        }
    };

    template <class Source, class Change, class Sink>
    void pipeline(std::size_t, Source source, Change change, Sink sink) {
        for (std::int64_t i = 0; source(i);) sink(change(i));
    }
};

} // namespace

std::optional<int> lab::run_graph(const std::string& name, const std::string& size,
                                  unsigned threads) {
    return graphs<plain_loops>::run(name, size, threads);
}
