// SPDX-License-Identifier: Apache-2.0
// Support of the programs that compare parallel algorithms with serial ones. Each round runs the
// serial and the parallel form right after each other. A row shows the median time of the serial
// form, and the median of the ratios parallel / serial of all rounds, for 1 and 2 workers.
#pragma once

#include <sennit/runtime.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

namespace compare {

using number = std::uint64_t;
using numbers = std::vector<number>;
using clock_type = std::chrono::steady_clock;

inline volatile number keep;

inline double milliseconds(const std::function<void()>& body) {
    const auto start = clock_type::now();
    body();
    return std::chrono::duration<double, std::milli>(clock_type::now() - start).count();
}

inline double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

struct algorithm_case {
    const char* name;
    std::function<void()> serial;
    std::function<void()> parallel;
    std::function<void()> reset = [] {};
};

inline void measure(const algorithm_case& one, int rounds) {
    double serial_ms = 0;
    double ratio[3] = {};
    for (unsigned workers : {1u, 2u}) {
        sennit::runtime runtime({.workers = workers});
        std::vector<double> serial;
        std::vector<double> ratios;
        for (int round = 0; round <= rounds; ++round) {
            one.reset();
            const double plain = milliseconds(one.serial);
            one.reset();
            const double parallel = runtime.run([&] { return milliseconds(one.parallel); });
            if (round == 0) continue; // warms up
            serial.push_back(plain);
            ratios.push_back(parallel / plain);
        }
        if (workers == 1) serial_ms = median(serial);
        ratio[workers] = median(ratios);
    }
    std::printf("%-34s %10.3f %9.2f %9.2f\n", one.name, serial_ms, ratio[1], ratio[2]);
    std::fflush(stdout);
}

// Measures the rows whose name begins with `wanted`.
inline void measure_all(const std::vector<algorithm_case>& rows, std::string_view wanted,
                        int rounds) {
    std::printf("%-34s %10s %9s %9s\n", "algorithm", "serial ms", "1 worker", "2 workers");
    for (const algorithm_case& one : rows)
        if (std::string_view(one.name).starts_with(wanted))
            measure(one, std::string_view(one.name).find("sort") == 0 ? 3 : rounds);
}

} // namespace compare
