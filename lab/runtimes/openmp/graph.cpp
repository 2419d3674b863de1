// SPDX-License-Identifier: Apache-2.0
// Tasks with dependences: one thread makes the tasks of each round anew, in the order of the nodes.
#include "graph/main.hpp"

#include <omp.h>

namespace {

struct with_openmp_graphs {
    static constexpr bool no_pipeline = true;
    explicit with_openmp_graphs(unsigned threads) {
        omp_set_num_threads(static_cast<int>(threads));
    }

    // excerpt graph
    template <class Body>
    struct graph {
        Body body;
        std::vector<std::vector<std::uint32_t>> predecessors;
        std::vector<char> done; // one for each node; a dependence names its address
        graph(with_openmp_graphs&, std::uint32_t count, Body given)
            : body(given), predecessors(count), done(count) {}
        void edge(std::uint32_t from, std::uint32_t to) { predecessors[to].push_back(from); }
        void repeat(int rounds) {
            char* const places = done.data();
#pragma omp parallel
#pragma omp single
            for (int i = 0; i < rounds; ++i) {
                for (std::uint32_t node = 0; node < predecessors.size(); ++node) {
                    const std::uint32_t* const before = predecessors[node].data();
                    const std::size_t count = predecessors[node].size();
#pragma omp task depend(iterator(std::size_t k = 0 : count), in : places[before[k]])               \
    depend(out : places[node]) firstprivate(node)
                    body(node);
                }
#pragma omp taskwait
            }
        }
    };
    // excerpt end
};

} // namespace

std::optional<int> lab::run_graph(const std::string& name, const std::string& size,
                                  unsigned threads) {
    return graphs<with_openmp_graphs>::run(name, size, threads);
}
