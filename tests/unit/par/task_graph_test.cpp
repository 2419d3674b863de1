// SPDX-License-Identifier: Apache-2.0
// Tests par::task_graph: order, values, reuse, partial runs and the views of a graph.
#include <sennit/sennit.hpp>

#include "on_workers.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using sennit::par::node;
using sennit::par::task_graph;

TEST(par_task_graph, graph_without_nodes_runs) {
    on_workers([] {
        task_graph g;
        g.run();
        EXPECT_EQ(g.size(), 0u);
    });
}

TEST(par_task_graph, node_receives_results_of_its_predecessors_in_order) {
    on_workers([] {
        task_graph g;
        auto a = g.add([] { return 40; });
        auto b = g.add([] { return std::string("2"); });
        auto nothing = g.add([] {});
        auto sum = g.add([](const int& i, const std::string& s) { return i + std::stoi(s); }, a,
                         nothing, b);
        g.run();
        EXPECT_EQ(sum.result(), 42);
        EXPECT_EQ(b.result(), "2");
    });
}

TEST(par_task_graph, values_may_be_move_only_immovable_or_references) {
    struct immovable {
        explicit immovable(int v) : value(v) {}
        immovable(const immovable&) = delete;
        int value;
    };
    on_workers([] {
        task_graph g;
        int target = 0;
        auto owner = g.add([] { return std::make_unique<int>(7); });
        auto fixed = g.add([](const std::unique_ptr<int>& p) { return immovable(*p); }, owner);
        auto place = g.add([&]() -> int& { return target; });
        g.add([](const immovable& i, int& out) { out = i.value; }, fixed, place);
        auto only = std::make_unique<int>(1);
        auto moved = g.add([held = std::move(only)] { return *held; });
        g.run();
        EXPECT_EQ(target, 7);
        EXPECT_EQ(&place.result(), &target);
        EXPECT_EQ(moved.result(), 1);
        EXPECT_EQ(*std::unique_ptr<int>(std::move(owner.result())), 7);
    });
}

TEST(par_task_graph, order_edges_order_nodes) {
    on_workers([] {
        task_graph g;
        std::vector<int> order; // plain: ThreadSanitizer reports a missing edge
        std::vector<node<void>> nodes;
        for (int i = 0; i < 10; ++i) nodes.push_back(g.add([&order, i] { order.push_back(i); }));
        for (std::size_t i = 1; i < 5; ++i) nodes[i].after(nodes[i - 1]);
        for (std::size_t i = 5; i < 9; ++i) nodes[i].before(nodes[i + 1]);
        nodes[5].after(std::vector<node<void>>(nodes.begin(), nodes.begin() + 5));
        g.run();
        std::vector<int> wanted(10);
        std::iota(wanted.begin(), wanted.end(), 0);
        EXPECT_EQ(order, wanted);
    });
}

TEST(par_task_graph, duplicate_edges_count_consistently) {
    on_workers([] {
        task_graph g;
        int runs = 0;
        auto a = g.add([] { return 1; });
        auto b = g.add([&](int x, int y) { runs += x + y; }, a, a);
        b.after(a, a);
        for (int i = 0; i < 3; ++i) g.run();
        EXPECT_EQ(runs, 6);
    });
}

// Node i starts after random earlier nodes, and each node checks that they have run in this round.
TEST(par_task_graph, random_graph_keeps_order_in_every_run) {
    constexpr std::size_t count = large(100'000);
    std::mt19937 random(12345);
    std::vector<std::vector<std::uint32_t>> before(count);
    for (std::size_t i = 1; i < count; ++i)
        for (auto k = random() % 5; k != 0; --k)
            before[i].push_back(static_cast<std::uint32_t>(
                i - 1 - random() % std::min<std::size_t>(i, k == 1 ? i : 200)));
    on_workers([&] {
        task_graph g;
        std::vector<unsigned> round(count, 0); // plain: each node writes its own element
        std::atomic<std::size_t> wrong{0};
        std::vector<node<void>> nodes;
        for (std::size_t i = 0; i < count; ++i) {
            nodes.push_back(g.add([&, i] {
                const unsigned now = round[i] + 1;
                for (std::uint32_t other : before[i])
                    if (round[other] != now) ++wrong;
                round[i] = now;
            }));
            for (std::uint32_t other : before[i]) nodes[i].after(nodes[other]);
        }
        for (int i = 0; i < 5; ++i) g.run();
        EXPECT_EQ(wrong, 0u);
        EXPECT_EQ(std::count(round.begin(), round.end(), 5u), std::ptrdiff_t{count});
    });
}

TEST(par_task_graph, graph_runs_hundred_times) {
    on_workers([] {
        constexpr std::size_t side = 30;
        task_graph g;
        std::vector<node<long>> nodes;
        for (std::size_t y = 0; y < side; ++y)
            for (std::size_t x = 0; x < side; ++x) {
                if (x == 0 && y == 0)
                    nodes.push_back(g.add([] { return 1L; }));
                else if (x == 0)
                    nodes.push_back(g.add([](long v) { return v; }, nodes[(y - 1) * side]));
                else if (y == 0)
                    nodes.push_back(g.add([](long v) { return v; }, nodes.back()));
                else
                    nodes.push_back(g.add([](long a, long b) { return (a + b) % 1'000'007; },
                                          nodes.back(), nodes[(y - 1) * side + x]));
            }
        g.run();
        const long first = nodes.back().result();
        for (int i = 0; i < 100; ++i) {
            g.run();
            ASSERT_EQ(nodes.back().result(), first);
        }
    });
}

TEST(par_task_graph, million_successors_become_ready_at_once) {
    on_workers([] {
        constexpr std::size_t width = large(1'000'000);
        task_graph g;
        std::vector<unsigned char> runs(width, 0);
        auto root = g.add([] {});
        auto other = g.add([] {});
        auto sink =
            g.add([&] { return std::accumulate(runs.begin(), runs.end(), std::size_t{0}); });
        for (std::size_t i = 0; i < width; ++i) {
            auto one = g.add([&, i] { ++runs[i]; }, root);
            if (i % 3 == 0) one.after(other); // these need a counter
            sink.after(one);
        }
        g.run();
        EXPECT_EQ(sink.result(), std::size_t{width});
        g.run();
        EXPECT_EQ(sink.result(), 2 * std::size_t{width});
    });
}

// Every node of a long chain makes a leaf ready: more offers than a visit has slots.
TEST(par_task_graph, chain_with_leaves_needs_more_room_than_fork_stack) {
    constexpr int length = 20'000;
    on_workers([] {
        task_graph g;
        std::atomic<int> leaves{0};
        auto last = g.add([] {});
        for (int i = 0; i < length; ++i) {
            auto next = g.add([] {}, last);
            g.add([&] { ++leaves; }, last);
            last = next;
        }
        for (int i = 1; i <= 5; ++i) {
            g.run();
            ASSERT_EQ(leaves, i * length);
        }
    });
}

TEST(par_task_graph, nodes_may_be_added_between_runs) {
    on_workers([] {
        task_graph g;
        auto a = g.add([] { return 1; });
        g.run();
        auto b = g.add([](int v) { return v + 1; }, a);
        g.run();
        EXPECT_EQ(b.result(), 2);
    });
}

TEST(par_task_graph, run_from_repeats_what_follows_and_keeps_other_results) {
    on_workers([] {
        task_graph g;
        int loads = 0, factors = 0;
        int factor = 2;
        auto load = g.add([&] { return ++loads * 10; });
        auto scale = g.add([&] { return ++factors, factor; });
        auto product = g.add([](int a, int b) { return a * b; }, load, scale);
        auto twice = g.add([](int a) { return 2 * a; }, product);
        auto both = g.add([](int a, int b) { return a + b; }, twice, scale);
        g.run();
        EXPECT_EQ(both.result(), 42);
        factor = 3;
        g.run_from(scale);
        EXPECT_EQ(both.result(), 63);
        g.run_from(twice, product, twice); // a start that follows from another one
        EXPECT_EQ(loads, 1);
        EXPECT_EQ(factors, 2);
        g.run(); // a full run after a partial one
        EXPECT_EQ(both.result(), 20 * 3 * 2 + 3);
    });
}

TEST(par_task_graph, thread_that_is_no_worker_may_run_graph) {
    task_graph g;
    auto a = g.add([] { return sennit::detail::on_any_worker(); });
    g.run();
    EXPECT_TRUE(a.result());
}

TEST(par_task_graph, cycle_is_refused_with_its_names) {
    on_workers([] {
        task_graph g;
        auto a = g.add([] {}).name("parse");
        auto b = g.add([] {}, a).name("check");
        auto c = g.add([] {}, b);
        auto behind = g.add([] {}, c);
        a.after(c);
        try {
            g.run();
            ADD_FAILURE() << "the cycle was accepted";
        } catch (const std::invalid_argument& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find("[SNT-070]"), text.npos) << text;
            EXPECT_TRUE(text.find("parse -> check -> node 2 -> parse") != text.npos ||
                        text.find("check -> node 2 -> parse -> check") != text.npos ||
                        text.find("node 2 -> parse -> check -> node 2") != text.npos)
                << text;
        }
        (void)behind;
    });
}

// The times that DOT shows decide the expected report, so that a busy machine cannot fail the test.
TEST(par_task_graph, report_names_critical_path) {
    on_workers([] {
        task_graph g;
        g.measure();
        const auto yields = [](int count) {
            return [count] {
                for (int i = 0; i < count; ++i) sennit::this_fiber::yield();
            };
        };
        auto a = g.add(yields(10)).name("a");
        auto upper = g.add(yields(1000), a).name("upper");
        auto lower = g.add(yields(1), a).name("lower");
        g.add(yields(10), upper, lower).name("end");
        g.run();
        std::ostringstream dot;
        g.write_dot(dot);
        const std::string text = dot.str();
        const auto time_of = [&](const std::string& name) {
            const std::string label = "label=\"" + name + "\\n";
            const auto at = text.find(label);
            EXPECT_NE(at, text.npos) << text;
            return std::stol(text.substr(at + label.size()));
        };
        const std::string middle = time_of("upper") >= time_of("lower") ? "upper" : "lower";
        const sennit::par::graph_report report = g.report();
        EXPECT_EQ(report.critical_path, (std::vector<std::string>{"a", middle, "end"})) << text;
        EXPECT_EQ(report.span.count(), time_of("a") + time_of(middle) + time_of("end"));
        EXPECT_EQ(report.work.count(),
                  time_of("a") + time_of("upper") + time_of("lower") + time_of("end"));
        EXPECT_GE(report.parallelism(), 1.0);
        EXPECT_NE(text.find("n0 -> n1;"), std::string::npos) << text;
    });
}

} // namespace
