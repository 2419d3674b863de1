// SPDX-License-Identifier: Apache-2.0
// Random trees of every public interface, with waits, yields and exceptions in them. No result may
// be lost.
#include "random_test.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;

std::atomic<long> alive{0};
struct probe {
    probe() { ++alive; }
    probe(const probe&) { ++alive; }
    probe(probe&&) noexcept { ++alive; }
    ~probe() { --alive; }
};

unsigned mix(unsigned x) {
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    return x ^ (x >> 16);
}

long tree(unsigned seed, int depth) {
    const unsigned dice = mix(seed);
    if (depth == 0) {
        if (dice % 8 == 0) sennit::sched::yield();
        if (dice % 2000 == 0) throw std::runtime_error("leaf");
        return 1;
    }
    const auto below = [=](unsigned n) { return tree(seed * 7 + n, depth - 1); };
    switch (dice % 6) {
    case 0: {
        auto [a, b] = sennit::fork_join([=] { return below(1); }, [=] { return below(2); });
        return a + b;
    }
    case 1: {
        long sum = 0;
        for (long one :
             sennit::fork_each(3, [=](std::size_t i) { return below(static_cast<unsigned>(i)); }))
            sum += one;
        return sum;
    }
    case 2:
        return sennit::fork_reduce(4, 0L, std::plus<>{},
                                   [=](std::size_t i) { return below(static_cast<unsigned>(i)); });
    case 3: {
        std::atomic<long> sum{0};
        sennit::scope children;
        for (unsigned i = 0; i < 3; ++i)
            children.spawn([&sum, i, below, text = std::string(40, 'x')] { sum += below(i); });
        children.join();
        return sum;
    }
    case 4: { // the first child waits for the second
        sennit::sched::one_shot event;
        auto [a, b] = sennit::fork_join(
            [&] {
                event.wait();
                return below(5);
            },
            [&] {
                struct at_end {
                    sennit::sched::one_shot& event;
                    ~at_end() { event.finish(); }
                } guard{event};
                return tree(seed + 6, depth > 2 ? 1 : 0);
            });
        return a + b;
    }
    default: {
        auto [a, b, c] = sennit::fork_join(
            [p = probe{}, below] { return below(8); },
            [=] {
                sennit::sched::yield();
                return below(9);
            },
            [p = probe{}, below]() -> long {
                try {
                    return below(3);
                } catch (...) {
                    sennit::sched::yield(); // this call suspends inside the handler
                    try {
                        throw;
                    } catch (const std::runtime_error&) {
                        return 0;
                    }
                }
            });
        return a + b + c;
    }
    }
}

TEST(stress, random_trees_lose_nothing) {
    const auto end = std::chrono::steady_clock::now() + test_duration(8s);
    unsigned seed =
        static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
    std::cout << "seed " << seed << '\n';
    long runs = 0, failures = 0;
    for (; std::chrono::steady_clock::now() < end; ++seed) {
        const unsigned workers = 1 + seed % 4;
        sennit::runtime runtime({.workers = workers});
        for (unsigned k = 0; k < 20; ++k) try {
                ++runs;
                ASSERT_GT(
                    runtime.run([=] { return tree(seed * 100 + k, static_cast<int>(2 + k % 5)); }),
                    -1);
            } catch (const std::runtime_error&) {
                ++failures;
            }
        ASSERT_EQ(alive, 0) << "seed " << seed;
    }
    std::cout << runs << " runs, " << failures << " exceptions\n";
}

} // namespace
