// SPDX-License-Identifier: Apache-2.0
// savina-astar: 20 actors search a grid of n × n × n nodes. A node has edges to some of the six
// nodes whose coordinates are equal or larger by one. An actor visits up to 1,024 nodes, and draws
// 100 random numbers at each of them. Then it returns the nodes that are left to the master, which
// gives them to the actors in turn. The answer is the number of nodes that were reached.
//
// The actors share the grid: the first actor that reaches a node becomes the one that visits it.
// The search goes on until no node is left, so the answer does not depend on time. The suite stops
// at a node four fifths of the way.
#pragma once

#include "savina.hpp"

#include <array>
#include <atomic>

namespace lab::savina {

struct astar_size : actor_workload {
    using id = std::int32_t;

    explicit astar_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 2, 100);
    }
    static constexpr std::int64_t workers = 20, threshold = 1'024, rounds = 100;
    std::size_t nodes() const { return static_cast<std::size_t>(n * n * n); }

    // The six possible neighbours of a node, and whether each of them is one.
    std::vector<std::vector<id>> grid() const {
        std::vector<std::vector<id>> edges(nodes());
        random numbers(n);
        for (std::int64_t node = 0; node < n * n * n; ++node) {
            const std::int64_t at[] = {node / (n * n), node / n % n, node % n};
            auto& mine = edges[static_cast<std::size_t>(node)];
            mine.reserve(4); // one allocation, as in Rust, for most nodes
            for (std::int64_t corner = 1; corner <= 6; ++corner) {
                const bool drawn = (numbers.next() >> 8 & 1) != 0;
                if (!drawn && !(corner == 6 && mine.empty())) continue;
                std::int64_t other = 0;
                for (int axis = 0; axis < 3; ++axis)
                    other = other * n + std::min(n - 1, at[axis] + (corner >> (2 - axis) & 1));
                const auto found = static_cast<id>(other);
                if (other != node && std::find(mine.begin(), mine.end(), found) == mine.end())
                    mine.push_back(found);
            }
        }
        return edges;
    }
    // Visits nodes from `first` on, at most `threshold` of them. Calls reach(node, from) for each
    // neighbour, and visits those for which it returns true. Returns the nodes that are left.
    template <class F>
    static std::vector<id> visit(const std::vector<std::vector<id>>& edges, id first, F reach) {
        std::vector<id> queue{first};
        std::size_t at = 0;
        std::int64_t drawn = 0;
        for (; at < queue.size() && at < threshold; ++at) {
            drawn += idle_loop(rounds);
            const id from = queue[at];
            for (const id node : edges[static_cast<std::size_t>(from)])
                if (reach(node, from)) queue.push_back(node);
        }
        // The sum is never zero, which no compiler knows.
        if (drawn == 0) return {};
        return {queue.begin() + static_cast<std::ptrdiff_t>(at), queue.end()};
    }
    std::int64_t expected() const {
        const auto edges = grid();
        std::vector<bool> reached(nodes());
        reached[0] = true;
        std::vector<id> left{0};
        std::int64_t count = 0;
        while (!left.empty()) {
            const id from = left.back();
            left.pop_back();
            ++count;
            for (const id node : edges[static_cast<std::size_t>(from)])
                if (!reached[static_cast<std::size_t>(node)]) {
                    reached[static_cast<std::size_t>(node)] = true;
                    left.push_back(node);
                }
        }
        return count;
    }
    std::int64_t tasks() const { return expected(); }

    // The grid of one run. The predecessor of a node that was not reached is -1.
    struct state {
        std::vector<std::vector<id>> edges;
        std::vector<std::atomic<id>> from;
        explicit state(const astar_size& size) : edges(size.grid()), from(size.nodes()) {
            for (auto& one : from) one.store(-1, std::memory_order_relaxed);
            from[0].store(0, std::memory_order_relaxed);
        }
        std::vector<id> visit(id first) {
            return astar_size::visit(edges, first, [this](id node, id by) {
                id none = -1;
                return from[static_cast<std::size_t>(node)].compare_exchange_strong(none, by);
            });
        }
        // The nodes that were reached over an edge, with the first one.
        std::int64_t reached() const {
            std::int64_t count = 1;
            for (std::size_t node = 1; node < from.size(); ++node) {
                const id by = from[node].load(std::memory_order_relaxed);
                if (by < 0) continue;
                const auto& all = edges[static_cast<std::size_t>(by)];
                count += std::find(all.begin(), all.end(), static_cast<id>(node)) != all.end();
            }
            return count;
        }
    };
};

} // namespace lab::savina
