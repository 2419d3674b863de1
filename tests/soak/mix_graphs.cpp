// SPDX-License-Identifier: Apache-2.0
// Task graphs of random shape, with nodes that wait, use tokens, throw and cancel, in full and
// partial runs; and pipelines of random stages.
#include "mix.hpp"

#include <sennit/sennit.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace soak {

namespace mix_graphs {
namespace {

namespace par = sennit::par;

// Node i adds one to the largest number of its predecessors; the sources count the rounds. A node
// that starts too early reads an old number.
struct shape {
    explicit shape(dice& with) : tokens(static_cast<std::size_t>(with.from(1, 3))) {
        const int count = with.from(1, 400);
        before.resize(static_cast<std::size_t>(count));
        numbers.resize(before.size());
        for (int i = 0; i < count; ++i) {
            const bool waits = with.one_in(30);
            const auto body = [this, i, waits] { visit(static_cast<std::size_t>(i), waits); };
            nodes.push_back(with.one_in(10) ? graph.add(body, par::uses(tokens)) : graph.add(body));
            const int most = i == 0 ? 0 : with.from(0, 3);
            for (int k = 0; k < most; ++k) {
                const auto other = static_cast<std::size_t>(with.from(0, i - 1));
                before[static_cast<std::size_t>(i)].push_back(other);
                nodes.back().after(nodes[other]);
            }
        }
    }
    void visit(std::size_t i, bool waits) {
        if (waits) sennit::this_fiber::yield();
        if (static_cast<int>(i) == thrower) throw std::range_error("thrown");
        if (static_cast<int>(i) == canceller) graph.cancel();
        numbers[i] = after_predecessors(i);
    }
    int after_predecessors(std::size_t i) const {
        int largest = round;
        for (std::size_t other : before[i]) largest = std::max(largest, numbers[other]);
        return largest + 1;
    }
    bool right() const {
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (numbers[i] != after_predecessors(i)) return false;
        return true;
    }

    par::tokens tokens;
    par::task_graph graph;
    std::vector<par::node<void>> nodes;
    std::vector<std::vector<std::size_t>> before;
    std::vector<int> numbers;
    int round = 0; // grows by more than the depth of the graph
    int thrower = -1;
    int canceller = -1;
};

bool graphs(dice& with) {
    shape one(with);
    const int last = static_cast<int>(one.nodes.size()) - 1;
    for (int rounds = with.from(1, 6); rounds != 0; --rounds) {
        one.round += 1000;
        one.thrower = with.one_in(4) ? with.from(0, last) : -1;
        one.canceller = with.one_in(4) ? with.from(0, last) : -1;
        bool whole = true;
        try {
            one.graph.run();
        } catch (const std::range_error&) {
            if (one.thrower < 0) return false;
            whole = false;
        } catch (const sennit::cancelled&) {
            if (one.canceller < 0) return false;
            whole = false;
        }
        if (!whole) continue;
        if (one.thrower >= 0 || !one.right()) return false;
        one.canceller = -1;
        one.graph.run_from(one.nodes[static_cast<std::size_t>(with.from(0, last))]);
        if (!one.right()) return false;
    }
    return true;
}

bool pipelines(dice& with) {
    const int count = with.from(0, 300);
    const int thrower = with.one_in(3) ? with.from(0, count + 20) : -1;
    const int period = with.from(1, 50);
    int next = 0;
    int position = 0;
    bool in_order = true;
    std::atomic<int> at_once{0};
    bool alone = true;
    bool thrown = false;
    try {
        par::pipeline(
            static_cast<std::size_t>(with.from(1, 12)),
            [&]() -> std::optional<int> {
                if (next == count) return std::nullopt;
                return next++;
            },
            par::parallel([&](int i) {
                if (i % period == 0) sennit::this_fiber::yield();
                if (i == thrower) throw std::range_error("thrown");
                return i;
            }),
            par::one_at_a_time([&](int i) {
                if (at_once.fetch_add(1) != 0) alone = false;
                if (i % period == 1) sennit::this_fiber::yield();
                at_once.fetch_sub(1);
                return i;
            }),
            par::in_order([&](int i) { in_order = in_order && i == position++; }));
    } catch (const std::range_error&) {
        thrown = true;
    }
    const bool must_throw = thrower >= 0 && thrower < count;
    return alone && in_order && thrown == must_throw && position == (thrown ? thrower : count);
}

constexpr program some_programs[] = {{"task-graphs", &graphs}, {"pipelines", &pipelines}};

} // namespace
} // namespace mix_graphs

std::span<const program> graphs_programs() {
    return mix_graphs::some_programs;
}

} // namespace soak
