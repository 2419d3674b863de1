// SPDX-License-Identifier: Apache-2.0
// UTS, the unbalanced tree search (Olivier et al., LCPC 2006): counts the nodes of a tree whose
// shape follows from its random numbers alone. T1 and T1L are geometric trees of fixed shape, T3
// and T3L binomial trees with long thin branches, and TT is a tiny tree for tests.
#pragma once

#include "runtime_base.hpp"
#include "sha1.hpp"

#include <algorithm>
#include <cmath>

namespace lab {

struct uts_tree {
    bool geometric;
    double b0; // number of children of the root (geometric: mean number of children of a node)
    int depth; // geometric: number of levels
    double q;  // binomial: probability that a node has children
    int m;     // binomial: number of children of a node that has any
    int seed;
    std::int64_t nodes;
};

inline const uts_tree& uts_named(const std::string& name) {
    static const uts_tree t1{true, 4, 10, 0, 0, 19, 4'130'071};
    static const uts_tree t3{false, 2000, 0, 0.124875, 8, 42, 4'112'897};
    static const uts_tree t1l{true, 4, 13, 0, 0, 29, 102'181'082};
    static const uts_tree t3l{false, 2000, 0, 0.200014, 5, 7, 111'345'631};
    static const uts_tree tt{true, 4, 5, 0, 0, 19, 3'987};
    if (name == "T1") return t1;
    if (name == "T3") return t3;
    if (name == "T1L") return t1l;
    if (name == "T3L") return t3l;
    if (name == "TT") return tt;
    throw std::invalid_argument("size must be T1, T3, T1L, T3L or TT, not '" + name + "'");
}

struct uts_node {
    digest state;
    int height;

    static uts_node root(int seed) {
        std::array<std::uint8_t, 20> bytes{};
        for (std::size_t i = 0; i < 4; ++i)
            bytes[16 + i] = static_cast<std::uint8_t>(seed >> (24 - 8 * i));
        return {sha1(bytes.data(), bytes.size()), 0};
    }
    uts_node child(std::size_t number) const {
        std::array<std::uint8_t, 24> bytes;
        std::copy(state.begin(), state.end(), bytes.begin());
        for (std::size_t i = 0; i < 4; ++i)
            bytes[20 + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
        return {sha1(bytes.data(), bytes.size()), height + 1};
    }
    double random() const { // in [0, 1)
        const std::uint32_t bits = std::uint32_t{state[16]} << 24 | std::uint32_t{state[17]} << 16 |
                                   std::uint32_t{state[18]} << 8 | state[19];
        return static_cast<double>(bits & 0x7fffffffu) / 2147483648.0;
    }
    std::size_t children(const uts_tree& tree) const {
        constexpr int most = 100;
        int count;
        if (tree.geometric) {
            if (height >= tree.depth) return 0;
            const double p = 1.0 / (1.0 + tree.b0);
            count = static_cast<int>(std::floor(std::log(1.0 - random()) / std::log(1.0 - p)));
        } else if (height == 0) {
            return static_cast<std::size_t>(std::floor(tree.b0));
        } else {
            count = random() < tree.q ? tree.m : 0;
        }
        return static_cast<std::size_t>(std::min(count, most));
    }
};

template <class R>
struct uts {
    static constexpr const char* name = "uts";
    const uts_tree& tree;
    explicit uts(const std::string& size) : tree(uts_named(size)) {}

    // excerpt uts
    [[gnu::noinline]] static std::int64_t node(const uts_tree& tree, const uts_node& at) {
        return 1 + R::template sum<0>(at.children(tree),
                                      [&](std::size_t i) { return node(tree, at.child(i)); });
    }
    // excerpt end
    std::int64_t run() const { return node(tree, uts_node::root(tree.seed)); }
    bool recurses_deeply() const { return tree.nodes > 10'000'000 && !tree.geometric; }
    std::int64_t expected() const { return tree.nodes; }
    std::int64_t tasks() const { return tree.nodes; }
};

} // namespace lab
