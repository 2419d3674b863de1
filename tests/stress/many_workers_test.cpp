// SPDX-License-Identifier: Apache-2.0
// Many more workers than processors: 32 and 64 workers that run dry, force publication, park and
// wake. Each round is a random program whose forks must all run: children that a computing owner
// waits for, loops with gaps, lone tasks behind a computing worker, and calls from outside.
#include "nothing_left.hpp"
#include "random_test.hpp"

#include <sennit/par.hpp>
#include <sennit/sennit.hpp>

#include "sys/membarrier.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

void compute(int steps) {
    std::uint64_t x = 1;
    for (int i = 0; i < steps; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        asm volatile("" : "+r"(x));
    }
}

// Blocks the thread until `count` is `value`: a long leaf, in which the owner reads no request.
void wait_for(const std::atomic<int>& count, int value) {
    for (int seen = count.load(); seen < value; seen = count.load()) count.wait(seen);
}
void add_one(std::atomic<int>& count) {
    ++count;
    count.notify_all();
}

// Each owner pushes `depth` forks and blocks its thread until all children of all owners have run.
// One worker less than there are workers may be blocked.
void long_leaves(dice& with, unsigned workers) {
    const int owners = with.from(1, static_cast<int>(workers) - 1), depth = with.from(1, 4);
    std::atomic<int> ran{0};
    const auto owner = [&](auto& self, int left) -> void {
        if (left == 0) return wait_for(ran, owners * depth);
        sennit::fork_join([&] { self(self, left - 1); }, [&] { add_one(ran); });
    };
    std::vector<sennit::fiber> fibers;
    for (int i = 0; i < owners; ++i) fibers.emplace_back([&] { owner(owner, depth); });
    for (auto& one : fibers) one.join();
    ASSERT_EQ(ran, owners * depth);
}

void loops_with_gaps(dice& with) {
    const int steps = with.from(1, 2'000), gap = with.from(0, 200'000);
    const auto elements = static_cast<std::size_t>(with.from(1, 2'000));
    for (int i = with.from(1, 5); i > 0; --i) {
        std::atomic<std::size_t> visited{0};
        sennit::par::for_each_n(elements, [&](std::size_t) {
            compute(steps);
            ++visited;
        });
        ASSERT_EQ(visited, elements);
        compute(gap);
    }
}

// A fiber is queued behind a task that blocks its worker's thread until that fiber has run.
void lone_tasks(dice& with) {
    for (int i = with.from(1, 10); i > 0; --i) {
        std::atomic<int> ran{0};
        sennit::fiber lone([&] { add_one(ran); });
        wait_for(ran, 1);
        lone.join();
        compute(with.from(0, 100'000));
    }
}

void run_round(sennit::runtime& runtime, unsigned workers, std::uint64_t seed) {
    dice with(seed);
    std::atomic<int> called{0};
    const int calls = with.from(0, 5);
    std::thread outside([&, pause = std::chrono::microseconds(with.from(0, 300))] {
        for (int i = 0; i < calls; ++i) {
            runtime.run([&] { sennit::fork_join([&] { ++called; }, [&] { ++called; }); });
            std::this_thread::sleep_for(pause); // Workers park in between, or not.
        }
    });
    runtime.run([&] {
        // Without membarrier, a fork waits for its owner's next push, which never comes in a leaf.
        switch (with.from(sennit::sys::barrier_available() ? 0 : 1, 2)) {
        case 0:
            return long_leaves(with, workers);
        case 1:
            return loops_with_gaps(with);
        default:
            return lone_tasks(with);
        }
    });
    outside.join();
    ASSERT_EQ(called, 2 * calls);
}

class many_workers : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, many_workers, testing::Values(32u, 64u),
                         [](const auto& test) { return "w" + std::to_string(test.param); });

TEST_P(many_workers, forks_and_tasks_of_idle_workers_run) {
    const auto end = std::chrono::steady_clock::now() + test_duration(8s);
    std::uint64_t seed = first_seed();
    std::cout << "seed " << seed << std::endl;
    sennit::runtime runtime({.workers = GetParam()});
    long rounds = 0;
    for (; std::chrono::steady_clock::now() < end; ++seed, ++rounds) {
        SCOPED_TRACE("repeat the round with SENNIT_TEST_SEED=" + std::to_string(seed));
        run_round(runtime, GetParam(), seed);
        if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(nothing_left(runtime));
    std::cout << rounds << " rounds\n";
}

} // namespace
