// SPDX-License-Identifier: Apache-2.0
// savina-uct: an unbalanced tree of n actors with up to ten children each. The actors first create
// the tree. The root then sends a message down the tree, for which each actor draws 400 to 600
// random numbers. The answer is the sum of all these numbers.
//
// The seed of an actor decides the sizes of its subtrees, and the seeds of its children, so the
// answer does not depend on time. In the suite, the root decides in the order of arrival, urgent
// messages overtake others, and the number of rounds is normally distributed.
#pragma once

#include "savina.hpp"

namespace lab::savina {

struct uct_size : actor_workload {
    explicit uct_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 1, 10'000'000);
    }
    static constexpr std::int64_t most_children = 10;

    struct node {
        std::uint64_t seed;
        std::int64_t size; // the number of nodes of its subtree
    };
    node root() const { return {1, n}; }
    static std::int64_t work(const node& at) {
        return idle_loop(400 + static_cast<std::int64_t>((at.seed >> 33) % 201));
    }
    template <class F>
    static void for_children(const node& at, F f) {
        std::int64_t rest = at.size - 1;
        const std::int64_t children = rest < most_children ? rest : most_children;
        for (std::int64_t i = 0; i < children; ++i) {
            std::uint64_t seed = at.seed + static_cast<std::uint64_t>(i) + 1;
            seed = (seed ^ seed >> 33) * 6364136223846793005u + 1442695040888963407u;
            const auto most = static_cast<std::uint64_t>(rest - (children - i) + 1);
            const auto size = 1 + static_cast<std::int64_t>((seed >> 33) % most);
            f(node{seed, i + 1 == children ? rest : size});
            rest -= size;
        }
    }
    std::int64_t expected() const {
        std::int64_t sum = 0;
        std::vector<node> left{root()};
        while (!left.empty()) {
            const node at = left.back();
            left.pop_back();
            sum += work(at);
            for_children(at, [&](const node& child) { left.push_back(child); });
        }
        return sum;
    }
};

} // namespace lab::savina
