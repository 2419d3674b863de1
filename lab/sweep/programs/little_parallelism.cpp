// SPDX-License-Identifier: Apache-2.0
// Less parallelism than workers: each of FIBERS fibers forks a child of WORK_US, computes as long
// itself, and joins, again and again. Two workers have work for each fiber; the other workers
// search, park, and are woken without result. The figure is the time of a fork with its join.
//
//     little_parallelism WORKERS FIBERS WORK_US SECONDS
#include "counters.hpp"

#include <sennit/fiber.hpp>
#include <sennit/fork_join.hpp>

#include <atomic>

using namespace sweep;

int main(int argc, char** argv) {
    const unsigned workers = count(argc, argv, 1, 4), fibers = count(argc, argv, 2, 1);
    const double work_us = number(argc, argv, 3, 50), seconds = number(argc, argv, 4, 1);
    const std::uint64_t steps = steps_for_ns(work_us * 1000);
    std::atomic<std::uint64_t> rounds{0}, sink{0};
    sennit::runtime runtime({.workers = workers});
    const auto before = runtime.metrics();
    const std::int64_t start = now_ns(), end = start + static_cast<std::int64_t>(seconds * 1e9);
    runtime.run([&] {
        std::vector<sennit::fiber> all;
        for (unsigned f = 0; f < fibers; ++f)
            all.emplace_back([&, f] {
                std::uint64_t mine = 0;
                for (; now_ns() < end; ++mine) {
                    auto [a, b] = sennit::fork_join([=] { return compute(steps, f); },
                                                    [=] { return compute(steps, f + 1); });
                    if ((a ^ b) == 42) sink.fetch_add(1, std::memory_order_relaxed);
                }
                rounds.fetch_add(mine, std::memory_order_relaxed);
            });
        for (sennit::fiber& one : all) one.join();
    });
    const double took_us = us_since(start);
    const auto after = runtime.metrics();
    const auto done = static_cast<double>(rounds.load());
    row result("little_parallelism");
    result.add("threads", workers)
        .add("fibers", fibers)
        .add("unit", "us")
        .add("of", "a fork")
        .add("time", took_us * fibers / done)
        .add("ideal", work_us * std::max(1.0, 2.0 * fibers / workers));
    add_counters(result, before, after, done).print();
}
