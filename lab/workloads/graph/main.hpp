// SPDX-License-Identifier: Apache-2.0
// The workloads of task graphs and pipelines. A runtime supplies the class that `shapes.hpp` and
// `pipeline.hpp` describe. These workloads are a source file of their own in each program,
// `graph.cpp`.
#pragma once

#include "../main.hpp"
#include "metg.hpp"
#include "pipeline.hpp"
#include "shapes.hpp"

namespace lab {

template <class R>
struct graphs {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "graph-chain") return shape<chain_shape>(size, threads);
        if (name == "graph-binary-tree") return shape<tree_shape>(size, threads);
        if (name == "graph-binary-tree-1us") return shape<tree_shape, true>(size, threads);
        if (name == "graph-wavefront") return shape<wavefront_shape>(size, threads);
        if (name == "graph-wavefront-1us") return shape<wavefront_shape, true>(size, threads);
        if (name == "metg-trivial") return metg_of(metg_pattern::trivial, size, threads);
        if (name == "metg-stencil") return metg_of(metg_pattern::stencil, size, threads);
        if (name == "metg-fft") return metg_of(metg_pattern::fft, size, threads);
        if (name == "metg-random") return metg_of(metg_pattern::random, size, threads);
        if constexpr (!requires { R::no_pipeline; })
            if (name == "pipeline-linear") return measure<R>(linear_pipeline<R>(size), threads);
        return std::nullopt;
    }

private:
    static int metg_of(metg_pattern::kind kind, const std::string& size, unsigned threads) {
        return measure<R>(metg<R>(size, threads, kind), threads);
    }
    template <class Shape, bool Works = false>
    static int shape(const std::string& size, unsigned threads) {
        return measure<R>(graph_workload<R, Shape, Works>(size), threads);
    }
};

} // namespace lab
