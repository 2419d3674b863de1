// SPDX-License-Identifier: Apache-2.0
// Memory that one worker takes and another worker frees: half of the workers start FIBERS detached
// fibers each, bound to a worker of the other half, 512 at a time. The figure is the time divided
// by the number of fibers of all makers.
//
//     remote_free WORKERS FIBERS
#include "counters.hpp"

#include <sennit/fiber.hpp>
#include <sennit/latch.hpp>

using namespace sweep;

namespace {

void start_fibers(unsigned fibers, unsigned worker) {
    for (unsigned begun = 0; begun < fibers;) {
        const unsigned some = std::min(512u, fibers - begun);
        sennit::latch done(some);
        for (unsigned i = 0; i < some; ++i)
            sennit::fiber(sennit::fiber_attributes{.worker = worker}, [&done] {
                done.count_down();
            }).detach();
        done.wait();
        begun += some;
    }
}

} // namespace

int main(int argc, char** argv) {
    const unsigned workers = count(argc, argv, 1, 2), fibers = count(argc, argv, 2, 100'000);
    const unsigned makers = std::max(1u, workers / 2);
    sennit::runtime runtime({.workers = workers});
    const auto before = runtime.metrics();
    const std::int64_t start = now_ns();
    runtime.run([&] {
        std::vector<sennit::fiber> all;
        for (unsigned m = 0; m < makers; ++m)
            all.emplace_back(sennit::fiber_attributes{.worker = m},
                             [=] { start_fibers(fibers, (makers + m) % workers); });
        for (sennit::fiber& one : all) one.join();
    });
    const double took_us = us_since(start), started = static_cast<double>(makers) * fibers;
    row result("remote_free");
    result.add("threads", workers)
        .add("unit", "ns")
        .add("of", "a fiber")
        .add("time", took_us * 1e3 / started)
        .add("pieces", makers);
    add_counters(result, before, runtime.metrics(), started).print();
}
