// SPDX-License-Identifier: Apache-2.0
// Three graphs of tasks. Each node writes a number that follows from the numbers of its
// predecessors: their maximum plus one. The source, node 0, counts the runs. So a node that did not
// run, or that ran too early, leaves a wrong number.
//
// A runtime supplies a class with a constructor from the number of threads, and these members:
//
//   graph<Body>(runtime, count, body)   a graph of `count` nodes; node i calls body(i)
//     edge(from, to)                    node `to` starts when node `from` has ended
//     repeat(rounds)                    runs the graph so many times, one run after the other
//
// The graph is built, and run once, before the timed run.
#pragma once

#include "../runtime_base.hpp"

#include <algorithm>
#include <bit>
#include <memory>

namespace lab {

// About a microsecond of work that the compiler cannot remove.
inline void work_for_microsecond() {
    std::uint64_t x = 1;
    for (int i = 0; i < 800; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" ::"r"(x));
}

struct chain_shape {
    static constexpr const char* name = "graph-chain";
    static constexpr std::int64_t largest = 1'000'000;
    std::uint32_t count;
    explicit chain_shape(std::int64_t size) : count(static_cast<std::uint32_t>(size)) {}
    template <class F>
    void for_each_predecessor(std::uint32_t i, F f) const {
        if (i != 0) f(i - 1);
    }
    static std::uint32_t depth(std::uint32_t i) { return i; }
};

struct tree_shape {
    static constexpr const char* name = "graph-binary-tree";
    static constexpr std::int64_t largest = 1'000'000;
    std::uint32_t count;
    explicit tree_shape(std::int64_t size) : count(static_cast<std::uint32_t>(size)) {}
    template <class F>
    void for_each_predecessor(std::uint32_t i, F f) const {
        if (i != 0) f((i - 1) / 2);
    }
    static std::uint32_t depth(std::uint32_t i) {
        return static_cast<std::uint32_t>(std::bit_width(i + 1)) - 1;
    }
};

struct wavefront_shape {
    static constexpr const char* name = "graph-wavefront";
    static constexpr std::int64_t largest = 1'000;
    std::uint32_t side;
    std::uint32_t count;
    explicit wavefront_shape(std::int64_t size)
        : side(static_cast<std::uint32_t>(size)), count(side * side) {}
    template <class F>
    void for_each_predecessor(std::uint32_t i, F f) const {
        if (i % side != 0) f(i - 1);
        if (i >= side) f(i - side);
    }
    std::uint32_t depth(std::uint32_t i) const { return i % side + i / side; }
};

template <class Shape, bool Works>
struct graph_body {
    Shape shape;
    std::int64_t* values;
    void operator()(std::uint32_t i) const {
        if constexpr (Works) work_for_microsecond();
        std::int64_t largest = i == 0 ? values[0] : 0;
        shape.for_each_predecessor(
            i, [&](std::uint32_t p) { largest = std::max(largest, values[p]); });
        values[i] = largest + 1;
    }
};

template <class R, class Shape, bool Works = false>
struct graph_workload {
    static constexpr int rounds = 10;
    using body = graph_body<Shape, Works>;
    using graph = typename R::template graph<body>;

    Shape shape;
    mutable std::vector<std::int64_t> values;
    mutable std::unique_ptr<graph> built;
    explicit graph_workload(const std::string& size)
        : shape(parse_size(size, 1, Shape::largest)), values(shape.count) {}

    std::int64_t run_in(R& runtime) const {
        values[0] = 0;
        if (!built) build(runtime);
        built->repeat(rounds);
        return 0;
    }
    void build(R& runtime) const {
        built = std::make_unique<graph>(runtime, shape.count, body{shape, values.data()});
        for (std::uint32_t i = 0; i < shape.count; ++i)
            shape.for_each_predecessor(i, [&](std::uint32_t p) { built->edge(p, i); });
    }
    std::int64_t check() const {
        built.reset(); // before the runtime ends
        std::int64_t sum = 0;
        for (std::int64_t value : values) sum += value;
        return sum;
    }
    std::int64_t expected() const {
        std::int64_t sum = 0;
        for (std::uint32_t i = 0; i < shape.count; ++i) sum += rounds + shape.depth(i);
        return sum;
    }
    std::int64_t tasks() const { return std::int64_t{rounds} * shape.count; }
};

} // namespace lab
