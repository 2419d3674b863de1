// SPDX-License-Identifier: Apache-2.0
// A tree of fibers that block needs about as many stacks for each worker as the tree is deep, not
// one stack for each fiber. src/core/README.md, "How many stacks", gives the rules of the
// scheduler that these tests hold.
//
// Each test runs one tree on 1, 2, 3 and 8 workers, with and without the watchdog's extra threads.
// A tree has one root; each inner node spawns its children, which it detaches, and receives one
// value from each by a rendezvous channel. So a node waits only for its children, and a child waits
// only for its parent to receive.
//
// The bounds are in stacks. Each is at least twice the most stacks that 60 runs of a setting took,
// on two processors with up to 30 ready threads; the comment of a test gives that number for
// 1, 2, 3 and 8 workers. The scheduler before these rules took at least 2,500 stacks in each
// setting. The runtime never frees a stack, so the stacks that are live or cached after a run are
// the most that were live at once.
#include <sennit/detail/base/sanitizers.hpp>
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace live_stacks {
namespace {

using number = std::uint64_t;
using answers = sennit::channel<number>; // capacity 0: push ends when the parent has the value

// A sanitizer slows the tree, but not the clock: each tick lets a global poll begin the oldest new
// fiber. So a sanitizer's build runs a smaller tree.
#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
constexpr number size = 10'000;
#else
constexpr number size = 100'000;
#endif

struct setting {
    unsigned workers;
    unsigned max_spare_workers;
};

struct measured {
    number answer;
    std::size_t stacks; // the most that existed at once
};

// Runs `root(up)` as a fiber, which sends one number to `up`.
template <class F>
measured run_tree(setting on, F root) {
    sennit::runtime_options options{.workers = on.workers, .stack_size = 64 << 10};
    options.max_spare_workers = on.max_spare_workers;
    sennit::runtime runtime(options);
    const number answer = runtime.run([&] {
        answers up(0);
        sennit::fiber tree([&] { root(up); });
        const number result = *up.pop();
        tree.join();
        return result;
    });
    const sennit::runtime_metrics seen = runtime.metrics();
    return {answer, seen.stacks_live + seen.stacks_cached};
}

// Calls `check(on)` for each setting.
template <class F>
void with_each_setting(F check) {
    for (const unsigned workers : {1u, 2u, 3u, 8u})
        for (const unsigned extra : {0u, 4u}) {
            SCOPED_TRACE(testing::Message() << workers << " workers, " << extra << " extra");
            check(setting{workers, extra});
        }
}

// ---- skynet: each inner node has ten children, and the leaves count from zero

constexpr number sum_of_leaves = size * (size - 1) / 2;

// Calls `at_node(first)` first in each node, and `at_leaf()` in each leaf before its answer.
template <class N, class L>
void skynet(answers& up, number first, number leaves, N& at_node, L& at_leaf) {
    at_node(first);
    number sum = first;
    if (leaves == 1) {
        at_leaf();
    } else {
        sum = 0;
        const number part = leaves / 10;
        answers values(0);
        for (number i = 0; i < 10; ++i)
            sennit::fiber([&values, &at_node, &at_leaf, first, part, i] {
                skynet(values, first + i * part, part, at_node, at_leaf);
            }).detach();
        for (int i = 0; i < 10; ++i) sum += *values.pop();
    }
    up.push(sum);
}

constexpr auto nothing = [](auto&&...) {};

// 111,111 fibers in six levels. Most stacks seen: 28, 44, 59 and 109.
TEST(live_stacks, of_a_blocking_tree_stay_near_its_depth) {
    with_each_setting([](setting on) {
        const auto root = [](answers& up) { skynet(up, 0, size, nothing, nothing); };
        const measured seen = run_tree(on, root);
        EXPECT_EQ(seen.answer, sum_of_leaves);
        EXPECT_LE(seen.stacks, 60 + 40 * on.workers);
    });
}

// One node in 22 takes the mutex, before it spawns. A mutex that each node takes can make the tree
// breadth-first: the owner loses its processor, so all nodes wait, and the mutex serves the nodes
// that have waited for 1 ms in the order of their coming. Most stacks seen: 24, 37, 52 and 98.
TEST(live_stacks, of_a_tree_whose_nodes_share_a_mutex_stay_near_its_depth) {
    with_each_setting([](setting on) {
        sennit::mutex mutex;
        number counted = 0;
        const auto count = [&](number first) {
            if (first % 50 != 0) return;
            const std::lock_guard guard(mutex);
            ++counted;
        };
        const auto root = [&](answers& up) { skynet(up, 0, size, count, nothing); };
        const measured seen = run_tree(on, root);
        EXPECT_EQ(seen.answer, sum_of_leaves);
        EXPECT_EQ(counted, size / 25 + (size / 10 - 1) / 9);
        EXPECT_LE(seen.stacks, 200 + 200 * on.workers);
    });
}

// New fibers begin before yielded ones while fewer than 16 have yielded, and each yielded fiber has
// a stack. Most stacks seen: 56, 155, 526 and 528.
TEST(live_stacks, of_a_tree_whose_leaves_yield_stay_near_its_depth) {
    with_each_setting([](setting on) {
        for (const int yields : {1, 3}) {
            SCOPED_TRACE(testing::Message() << yields << " yields");
            const auto yield = [&] {
                for (int i = 0; i < yields; ++i) sennit::this_fiber::yield();
            };
            const auto root = [&](answers& up) { skynet(up, 0, size, nothing, yield); };
            const measured seen = run_tree(on, root);
            EXPECT_EQ(seen.answer, sum_of_leaves);
            EXPECT_LE(seen.stacks, 300 + 250 * on.workers);
        }
    });
}

// ---- a tree whose nodes are of very unequal size

// A seed always gives an equal tree, independent of the workers.
number random_of(number seed) {
    seed += 0x9e3779b97f4a7c15u; // splitmix64
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    return seed ^ (seed >> 31);
}

// Grows a tree of `nodes` nodes, and sends their number. The root has up to three children; one of
// them, the first, second or third spawned, gets 81 % to 100 % of the rest.
void unequal(answers& up, number seed, number nodes) {
    number count = 1;
    if (const number rest = nodes - 1; rest != 0) {
        const number most = rest - rest * (random_of(seed) % 20) / 100;
        const number less = (rest - most) / 2;
        std::array<number, 3> parts{most, less, rest - most - less};
        std::swap(parts[0], parts[random_of(seed + 1) % 3]);
        answers values(0);
        int children = 0;
        for (const number part : parts) {
            seed = random_of(seed);
            if (part == 0) continue;
            ++children;
            sennit::fiber([&values, seed, part] { unequal(values, seed, part); }).detach();
        }
        while (children-- > 0) count += *values.pop();
    }
    up.push(count);
}

// 100,000 fibers in about 100 levels. Most stacks seen: 183, 205, 259 and 451.
TEST(live_stacks, of_an_unequal_tree_stay_near_its_depth) {
    with_each_setting([](setting on) {
        for (const number seed : {1u, 2u, 3u}) {
            SCOPED_TRACE(testing::Message() << "seed " << seed);
            const auto root = [&](answers& up) { unequal(up, seed, size); };
            const measured seen = run_tree(on, root);
            EXPECT_EQ(seen.answer, size);
            EXPECT_LE(seen.stacks, 250 + 150 * on.workers);
        }
    });
}

} // namespace
} // namespace live_stacks
