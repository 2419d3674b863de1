// SPDX-License-Identifier: Apache-2.0
// knapsack: the 0-1 knapsack problem by branch and bound, with a fork at each item: without the
// item first, then with it, as in Cilk's example. A node is dropped if the value so far plus the
// room that is left, at the density of the next item, cannot reach the best value found so far.
//
// The search is speculative: the order of the nodes decides which nodes are dropped. The answer,
// the best value, does not depend on the order, but the number of nodes differs from run to run and
// from runtime to runtime. A good order may give a speed-up above the number of workers. `tasks` is
// the number of nodes of the serial search.
//
// Cilk's example reads its items from files. Here a linear congruential generator draws weights and
// values from 100 to 999, independent of each other. The room is half of the sum of the weights.
#pragma once

#include "sizes.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace lab {

struct knapsack_items {
    struct item {
        int value, weight;
    };
    struct known_size {
        int n;
        std::int64_t best, nodes;
    };
    static constexpr std::array<known_size, 3> sizes{
        {{12, 5'466, 1'519}, {40, 18'595, 925'921}, {58, 26'755, 155'715'259}}};
    static constexpr int none = std::numeric_limits<int>::min();

    known_size size;
    std::vector<item> items; // the densest first, of equal ones the lightest
    int room = 0;
    explicit knapsack_items(const std::string& text) : size(one_of(text, sizes)) {
        std::uint32_t state = 1;
        const auto draw = [&state] {
            state = state * 1664525u + 1013904223u;
            return 100 + static_cast<int>((state >> 16) % 900);
        };
        for (int i = 0; i < size.n; ++i) {
            const int weight = draw();
            items.push_back({draw(), weight});
            room += weight;
        }
        room /= 2;
        std::sort(items.begin(), items.end(), [](const item& a, const item& b) {
            const int left = a.value * b.weight, right = b.value * a.weight;
            return left != right ? left > right : a.weight < b.weight;
        });
    }

    // The best value that a task has seen. Tasks that raise it at the same time may lose an update,
    // as in Cilk's example; the bound is then weaker for a while, and the answer is still right.
    static inline std::atomic<int> best = none;
    void prepare() const { best.store(none, std::memory_order_relaxed); }

    static void offer(int value) {
        if (value > best.load(std::memory_order_relaxed))
            best.store(value, std::memory_order_relaxed);
    }
    // Whether the node has no children. Its result is then `ended_with`.
    static bool ends(const item* next, const item* end, int room, int value) {
        return room <= 0 || next == end ||
               value + room * next->value / next->weight < best.load(std::memory_order_relaxed);
    }
    static int ended_with(const item* next, const item* end, int room, int value) {
        return room == 0 || (room > 0 && next == end) ? value : none;
    }
};

template <class R>
struct knapsack : knapsack_items {
    static constexpr const char* name = "knapsack";
    using knapsack_items::knapsack_items;

    // excerpt knapsack

    // The best value with the items from `next` on, where the items so far are worth `value`.
    [[gnu::noinline]] static int node(const item* next, const item* end, int room, int value) {
        if (ends(next, end, room, value)) return ended_with(next, end, room, value);
        auto [without, with] =
            R::both([=] { return node(next + 1, end, room, value); },
                    [=] { return node(next + 1, end, room - next->weight, value + next->value); });
        const int result = std::max(without, with);
        offer(result);
        return result;
    }
    // excerpt end
    std::int64_t run() const { return node(items.data(), items.data() + items.size(), room, 0); }
    std::int64_t expected() const { return size.best; }
    std::int64_t tasks() const { return size.nodes; }
};

} // namespace lab
