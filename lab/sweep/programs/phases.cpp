// SPDX-License-Identifier: Apache-2.0
// Short parallel loops with gaps, in Sennit: phases.hpp.
#include "phases.hpp"
#include "counters.hpp"

#include <sennit/par.hpp>

int main(int argc, char** argv) {
    const sweep::phases given(argc, argv);
    sennit::runtime runtime({.workers = given.threads});
    const auto loop = [&] {
        sennit::par::for_each_n(given.elements, [&](std::size_t i) noexcept { given.element(i); });
    };
    const auto run = [&](std::size_t n, std::vector<double>* took) {
        if (given.mode == "out")
            given.series(n, [&] { runtime.run(loop); }, took);
        else
            runtime.run([&] { given.series(n, loop, took); });
    };
    std::vector<double> took;
    took.reserve(given.loops);
    run(given.warm_up(), nullptr);
    const auto before = runtime.metrics();
    run(given.loops, &took);
    sweep::row result = given.result("phases", took);
    add_counters(result, before, runtime.metrics(), static_cast<double>(given.loops)).print();
}
