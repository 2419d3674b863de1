// SPDX-License-Identifier: Apache-2.0
// Tests par::task_graph: exceptions, cancellation, nodes that block, nested graphs and tokens.
#include <sennit/sennit.hpp>

#include "on_workers.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::par::node;
using sennit::par::task_graph;
using sennit::par::tokens;
using sennit::par::uses;

// A small graph with every kind of node: source, fan-out, fan-in, leaf, sink.
TEST(par_task_graph_errors, exception_of_each_node_reaches_run) {
    on_workers([] {
        constexpr std::size_t count = 12;
        task_graph g;
        std::size_t thrower = count;
        std::vector<std::atomic<int>> runs(count);
        std::vector<node<std::size_t>> nodes;
        const auto body = [&](std::size_t i) {
            return [&, i] {
                ++runs[i];
                if (i == thrower) throw std::runtime_error(std::to_string(i));
                return i;
            };
        };
        for (std::size_t i = 0; i < count; ++i) nodes.push_back(g.add(body(i)));
        for (std::size_t i = 1; i < count - 1; ++i) nodes[i].after(nodes[(i - 1) / 2]);
        for (std::size_t i = 5; i < count - 1; ++i) nodes[count - 1].after(nodes[i]);
        for (thrower = 0; thrower < count; ++thrower) {
            for (auto& one : runs) one = 0;
            try {
                g.run();
                ADD_FAILURE() << thrower;
            } catch (const std::runtime_error& error) {
                EXPECT_EQ(error.what(), std::to_string(thrower));
            }
            for (std::size_t i = 0; i < count; ++i) EXPECT_LE(runs[i], 1);
            if (thrower != count - 1) {
                EXPECT_EQ(runs[count - 1], 0) << "the sink depends on every node";
            }
        }
        for (auto& one : runs) one = 0;
        g.run(); // the graph is as good as new
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(runs[i], 1);
    });
}

TEST(par_task_graph_errors, run_throws_exception_of_lowest_node) {
    on_workers([] {
        task_graph g;
        sennit::event both;
        std::atomic<int> inside{0};
        // Both nodes run before either throws.
        for (int i = 0; i < 2; ++i)
            g.add([&, i] {
                if (++inside == 2) both.set();
                try {
                    both.wait();
                } catch (const sennit::cancelled&) { // by the exception of the other node
                }
                throw i;
            });
        try {
            g.run();
            ADD_FAILURE();
        } catch (int which) {
            EXPECT_EQ(which, 0);
        } catch (const sennit::cancelled&) {
            ADD_FAILURE() << "the error counts, not the cancellation that it caused";
        }
    });
}

TEST(par_task_graph_errors, error_wakes_blocked_nodes) {
    on_workers([] {
        task_graph g;
        sennit::channel<int> values(1);
        sennit::event waits;
        std::atomic<bool> woken{false};
        g.add([&] {
            waits.set();
            try {
                (void)values.pop();
            } catch (const sennit::cancelled&) {
                woken = true;
                throw;
            }
        });
        auto broken = g.add([&] {
            waits.wait();
            throw std::logic_error("broken");
        });
        g.add([&] { values.push(1); }, broken); // never starts
        EXPECT_THROW(g.run(), std::logic_error);
        EXPECT_TRUE(woken);
    });
}

TEST(par_task_graph_errors, nodes_block_on_channels_locks_and_sleep) {
    on_workers([] {
        task_graph g;
        sennit::channel<int> values(0); // each value needs both sides at once
        sennit::mutex lock;
        int sum = 0;
        constexpr int pairs = 50;
        for (int i = 0; i < pairs; ++i) {
            g.add([&] {
                const int v = values.pop().value();
                std::lock_guard guard(lock);
                sennit::this_fiber::yield();
                sum += v;
            });
        }
        auto first = g.add([] { sennit::this_fiber::sleep_for(1ms); });
        for (int i = 0; i < pairs; ++i) g.add([&, i] { values.push(i); }, first);
        g.run();
        EXPECT_EQ(sum, pairs * (pairs - 1) / 2);
    });
}

// The offers of the visit are in the fork stack and, beyond its room, in the run queue.
TEST(par_task_graph_errors, node_may_wait_for_all_offers_of_its_visit) {
    on_workers([] {
        constexpr int length = 500;
        task_graph g;
        sennit::latch leaves(length);
        auto last = g.add([] {});
        for (int i = 0; i < length; ++i) {
            auto next = g.add([] {}, last);
            g.add([&] { leaves.count_down(); }, last);
            last = next;
        }
        g.add([&] { leaves.wait(); }, last);
        g.run();
    });
}

TEST(par_task_graph_errors, nodes_fork_and_loop) {
    on_workers([] {
        task_graph g;
        std::atomic<long> sum{0};
        auto first = g.add([&] {
            sennit::par::for_each_n(1000, [&](std::size_t i) { sum += static_cast<long>(i); });
        });
        for (int i = 0; i < 100; ++i)
            g.add([&] { sennit::fork_join([&] { ++sum; }, [&] { ++sum; }); }, first);
        g.run();
        EXPECT_EQ(sum, 1000 * 999 / 2 + 200);
    });
}

TEST(par_task_graph_errors, graphs_nest_and_a_node_loops_over_graph) {
    on_workers([] {
        task_graph inner;
        int value = 0;
        auto step = inner.add([&] { return ++value; });
        inner.add([&](int v) { value = v + 1; }, step);
        task_graph outer;
        auto loop = outer.add([&] {
            while (value < 100) inner.run(); // what other libraries need a condition task for
            return value;
        });
        std::atomic<int> beside{0};
        for (int i = 0; i < 100; ++i) outer.add([&] { ++beside; });
        auto end = outer.add([](int v) { return v; }, loop);
        outer.run();
        EXPECT_EQ(end.result(), 100);
        EXPECT_EQ(beside, 100);
    });
}

TEST(par_task_graph_errors, deeply_nested_graphs_share_fork_stack) {
    on_workers([] {
        std::atomic<int> leaves{0};
        std::function<void(int)> nest = [&](int depth) {
            if (depth == 0) {
                ++leaves;
                return;
            }
            task_graph g;
            for (int i = 0; i < 2; ++i) g.add([&, depth] { nest(depth - 1); });
            g.run();
        };
        nest(10);
        EXPECT_EQ(leaves, 1024);
    });
}

TEST(par_task_graph_errors, start_of_node_is_point_of_cancellation) {
    on_workers([] {
        task_graph g;
        std::atomic<int> runs{0};
        auto last = g.add([] {});
        for (int i = 0; i < 1000; ++i)
            last = g.add(
                [&] {
                    if (++runs == 10) g.cancel();
                },
                last);
        EXPECT_THROW(g.run(), sennit::cancelled);
        EXPECT_EQ(runs, 10);
        g.run();
        EXPECT_EQ(runs, 1010);
    });
}

TEST(par_task_graph_errors, cancel_ends_nested_graph_alone) {
    on_workers([] {
        task_graph inner;
        std::atomic<int> inner_ends{0};
        auto first = inner.add([&] { inner.cancel(); });
        inner.add([&] { ++inner_ends; }, first);
        task_graph outer;
        auto node = outer.add([&] {
            try {
                inner.run();
                return false;
            } catch (const sennit::cancelled&) {
                return true;
            }
        });
        auto behind = outer.add([](bool was) { return was; }, node);
        outer.run();
        EXPECT_TRUE(behind.result());
        EXPECT_EQ(inner_ends, 0);
    });
}

TEST(par_task_graph_errors, nursery_around_run_wakes_blocked_nodes_of_every_worker) {
    on_workers([] {
        constexpr int count = 20;
        task_graph g;
        sennit::event never;
        sennit::latch all_wait(count);
        std::atomic<int> cancelled{0};
        for (int i = 0; i < count; ++i)
            g.add([&] {
                all_wait.count_down();
                try {
                    never.wait();
                } catch (const sennit::cancelled&) {
                    ++cancelled;
                    throw;
                }
            });
        bool seen = false;
        sennit::nursery around;
        around.start([&] {
            try {
                g.run();
            } catch (const sennit::cancelled&) {
                seen = true;
            }
        });
        all_wait.wait();
        around.cancel();
        around.join();
        EXPECT_TRUE(seen);
        EXPECT_EQ(cancelled, count);
    });
}

TEST(par_task_graph_errors, tokens_limit_nodes_of_one_kind) {
    on_workers([] {
        for (std::size_t limit : {1u, 3u}) {
            tokens few(limit);
            task_graph g;
            std::atomic<std::size_t> inside{0}, most{0};
            std::atomic<int> runs{0};
            auto first = g.add([] {});
            for (int i = 0; i < 200; ++i) {
                auto one = g.add(
                    [&] {
                        const std::size_t now = ++inside;
                        for (std::size_t seen = most; seen < now;)
                            if (most.compare_exchange_weak(seen, now)) break;
                        sennit::this_fiber::yield(); // a node that blocks keeps its token
                        --inside;
                        ++runs;
                    },
                    uses(few), first);
                g.add([&] { ++runs; }, one);
            }
            for (int i = 1; i <= 3; ++i) {
                g.run();
                EXPECT_EQ(runs, i * 400);
            }
            EXPECT_LE(most, limit);
        }
    });
}

TEST(par_task_graph_errors, tokens_are_shared_by_graphs_and_survive_errors) {
    on_workers([] {
        tokens one(1);
        std::atomic<int> inside{0}, runs{0};
        const auto work = [&] {
            EXPECT_EQ(++inside, 1);
            sennit::this_fiber::yield();
            --inside;
            if (++runs % 50 == 0) throw runs.load();
        };
        std::vector<std::unique_ptr<task_graph>> graphs;
        for (int i = 0; i < 4; ++i) {
            graphs.push_back(std::make_unique<task_graph>());
            for (int k = 0; k < 40; ++k) graphs.back()->add(work, uses(one));
        }
        sennit::nursery runners;
        for (auto& g : graphs)
            runners.start([&] {
                for (int i = 0; i < 5; ++i) {
                    try {
                        g->run();
                    } catch (int) {
                    }
                }
            });
        runners.join();
        task_graph last;
        auto end = last.add([] { return 1; }, uses(one));
        last.run(); // the token is free
        EXPECT_EQ(end.result(), 1);
    });
}

TEST(par_task_graph_errors, cancelled_run_leaves_queue_of_tokens) {
    on_workers([] {
        tokens none(0);
        task_graph g;
        for (int i = 0; i < 10; ++i) g.add([] { ADD_FAILURE(); }, uses(none));
        EXPECT_THROW(sennit::with_timeout(2ms, [&] { g.run(); }), sennit::timed_out);
        g.add([&] { g.cancel(); });
        EXPECT_THROW(g.run(), sennit::cancelled);
    });
}

using par_task_graph_misuse_DeathTest = testing::Test;

TEST(par_task_graph_misuse_DeathTest, misuse_ends_program_with_message) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            task_graph g;
            g.add([&] { g.run(); });
            g.run();
        },
        "SNT-071.*while it was running");
    EXPECT_DEATH(
        {
            task_graph g;
            auto a = g.add([] {});
            g.run_from(a);
        },
        "SNT-072.*call run first");
    EXPECT_DEATH(
        {
            task_graph g;
            task_graph h;
            auto a = g.add([] {});
            h.add([] {}, a);
        },
        "SNT-074.*two task graphs");
    EXPECT_DEATH(
        {
            task_graph g;
            (void)g.add([] { return 1; }).result();
        },
        "SNT-075.*after run");
}

} // namespace
