// SPDX-License-Identifier: Apache-2.0
// Forks behind a long leaf: each of OWNERS fibers forks DEPTH children of CHILD_US and then
// computes for LEAF_US without a call of the library. The other workers have nothing else to do, so
// they must force the owner to publish its forks. The figure is the time of a round, from the first
// fork to the last join. `began_p50` and `began_p90` tell when the children began.
//
//     long_leaves WORKERS OWNERS DEPTH LEAF_US CHILD_US ROUNDS
#include "counters.hpp"

#include <sennit/fiber.hpp>
#include <sennit/fork_join.hpp>

#include <atomic>

using namespace sweep;

namespace {

struct lengths {
    std::uint64_t leaf, child; // in steps
};

// Forks a child at each level, and writes the time at which it began to the list.
std::uint64_t nest(lengths of, std::int64_t start, double* began_us, double* end) {
    if (began_us == end) return compute(of.leaf, static_cast<std::uint64_t>(start));
    auto [a, b] = sennit::fork_join([=] { return nest(of, start, began_us + 1, end); },
                                    [=] {
                                        *began_us = us_since(start);
                                        return compute(of.child, 3);
                                    });
    return a ^ b;
}

} // namespace

int main(int argc, char** argv) {
    const unsigned workers = count(argc, argv, 1, 4), owners = count(argc, argv, 2, 1);
    const unsigned depth = count(argc, argv, 3, 6);
    const double leaf_us = number(argc, argv, 4, 500), child_us = number(argc, argv, 5, 50);
    const unsigned rounds = count(argc, argv, 6, 200);
    const lengths steps{steps_for_ns(leaf_us * 1000), steps_for_ns(child_us * 1000)};
    std::atomic<std::uint64_t> sink{0};
    std::vector<std::vector<double>> began_of(owners), round_of(owners);
    sennit::runtime runtime({.workers = workers});
    const auto before = runtime.metrics();
    runtime.run([&] {
        std::vector<sennit::fiber> fibers;
        for (unsigned o = 0; o < owners; ++o)
            fibers.emplace_back([&, o] {
                std::vector<double> began(depth);
                for (unsigned r = 0; r < rounds; ++r) {
                    const std::int64_t start = now_ns();
                    if (nest(steps, start, began.data(), began.data() + depth) == 42)
                        sink.fetch_add(1, std::memory_order_relaxed);
                    round_of[o].push_back(us_since(start));
                    began_of[o].insert(began_of[o].end(), began.begin(), began.end());
                }
            });
        for (sennit::fiber& one : fibers) one.join();
    });
    const auto after = runtime.metrics();
    std::vector<double> began, round;
    for (const auto& each : began_of) began.insert(began.end(), each.begin(), each.end());
    for (const auto& each : round_of) round.insert(round.end(), each.begin(), each.end());
    row result("long_leaves");
    result.add("threads", workers)
        .add("owners", owners)
        .add("unit", "us")
        .add("of", "a round")
        .add("time", quantile(round, 0.5))
        .add("ideal", std::max(leaf_us, owners * (leaf_us + depth * child_us) / workers))
        .add("p90", quantile(round, 0.9))
        .add("began_p50", quantile(began, 0.5))
        .add("began_p90", quantile(began, 0.9));
    add_counters(result, before, after, static_cast<double>(rounds) * owners).print();
}
