// SPDX-License-Identifier: Apache-2.0
// Random task graphs whose nodes compute, yield, fork, block, throw, run nested graphs and use
// tokens, run again and again. Prints its seed.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

namespace {

using sennit::par::node;
using sennit::par::task_graph;

struct random_graph {
    task_graph graph;
    task_graph nested;
    sennit::par::tokens few{2};
    sennit::channel<int> values{4};
    std::vector<std::vector<std::uint32_t>> before;
    std::vector<unsigned> round;
    std::atomic<std::uint32_t> wrong{0};
    std::atomic<std::uint32_t> thrower{~0u};
    std::atomic<std::uint32_t> in_nested{0};

    random_graph(std::size_t count, std::mt19937_64& random) : before(count), round(count, 0) {
        auto first = nested.add([&] { ++in_nested; });
        for (int i = 0; i < 5; ++i) nested.add([&] { ++in_nested; }, first);
        std::vector<node<void>> nodes;
        std::uint32_t last_nested = ~0u;
        for (std::uint32_t i = 0; i < count; ++i) {
            for (auto k = i == 0 ? 0 : random() % 4; k != 0; --k)
                before[i].push_back(static_cast<std::uint32_t>(random() % i));
            auto kind = random() % 32;
            const bool limited = random() % 16 == 0;
            if (kind == 0) { // the nested graph runs once at a time
                if (last_nested != ~0u) before[i].push_back(last_nested);
                last_nested = i;
            }
            const auto body = [this, i, kind] { run(i, kind); };
            nodes.push_back(limited ? graph.add(body, sennit::par::uses(few)) : graph.add(body));
            for (std::uint32_t other : before[i]) nodes[i].after(nodes[other]);
        }
    }

    void run(std::uint32_t i, std::uint64_t kind) {
        for (std::uint32_t other : before[i])
            if (round[other] != round[i] + 1) ++wrong;
        if (i == thrower) throw i;
        switch (kind) {
        case 0:
            nested.run();
            break;
        case 1:
            sennit::this_fiber::yield();
            break;
        case 2:
            sennit::fork_join([] {}, [] { sennit::this_fiber::yield(); });
            break;
        case 3: // a value comes back to some node of this kind
            values.push(1);
            values.pop();
            break;
        default:
            break;
        }
        ++round[i];
    }
};

TEST(stress_graphs, random_graphs_keep_their_order_and_survive_errors) {
    const char* given = std::getenv("SENNIT_TEST_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 0) : std::random_device()();
    std::cout << "seed " << seed << " (SENNIT_TEST_SEED)\n";
    std::mt19937_64 random(seed);
    for (unsigned workers : {1u, 2u, 4u}) {
        sennit::runtime runtime({.workers = workers});
        runtime.run([&] {
            for (int graphs = 0; graphs < 10; ++graphs) {
                const std::size_t count = 1 + random() % 2000;
                random_graph one(count, random);
                unsigned rounds = 0;
                for (int runs = 0; runs < 10; ++runs) {
                    if (runs % 3 == 2) {
                        const auto thrower = static_cast<std::uint32_t>(random() % count);
                        one.thrower = thrower;
                        EXPECT_THROW(one.graph.run(), std::uint32_t);
                        one.thrower = ~0u;
                        one.round.assign(count, rounds);
                    } else {
                        one.graph.run();
                        ++rounds;
                    }
                }
                EXPECT_EQ(one.wrong, 0u);
                EXPECT_EQ(one.round, std::vector<unsigned>(count, rounds));
            }
        });
    }
}

} // namespace
