// SPDX-License-Identifier: Apache-2.0
// The time that a parallel loop over few cheap elements takes beyond the plain loop.
//
//     bench_loop_start
//
// Each row shows the median of 15 measurements of a loop that multiplies and adds floats, as a
// plain loop and as a par::for_each_n, and the difference of the two.
#include <sennit/par.hpp>
#include <sennit/runtime.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

// The median time of a call, in nanoseconds.
template <class F>
double nanoseconds(F body, int calls) {
    using clock = std::chrono::steady_clock;
    std::array<double, 15> times{};
    for (double& each : times) {
        const auto start = clock::now();
        for (int i = 0; i < calls; ++i) {
            body();
            std::atomic_signal_fence(std::memory_order_seq_cst); // keeps each call
        }
        each = std::chrono::duration<double, std::nano>(clock::now() - start).count() / calls;
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void measure(unsigned workers, std::size_t elements) {
    std::vector<float> x(elements), y(elements, 1.0f);
    const auto step = [from = x.data(), to = y.data()](std::size_t i) {
        to[i] = 2.0f * from[i] + to[i];
    };
    const int calls = static_cast<int>(2'000'000 / (elements + 100));
    const auto plain_loop = [&] {
        for (std::size_t i = 0; i < elements; ++i) step(i);
    };
    const double plain = nanoseconds(plain_loop, calls);
    const double parallel = nanoseconds([&] { sennit::par::for_each_n(elements, step); }, calls);
    std::printf("%7u %8zu %8.1f %11.1f %10.1f\n", workers, elements, plain, parallel,
                parallel - plain);
}

} // namespace

int main() {
    std::printf("%7s %8s %8s %11s %10s\n", "workers", "elements", "plain ns", "parallel ns",
                "difference");
    for (const unsigned workers : {1u, 2u}) {
        sennit::runtime runtime({.workers = workers});
        for (const std::size_t elements : {1u, 10u, 100u, 1'000u, 10'000u})
            runtime.run([&] { measure(workers, elements); });
    }
}
