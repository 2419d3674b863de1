// SPDX-License-Identifier: Apache-2.0
// The program around a runtime. `PROGRAM WORKLOAD SIZE THREADS` runs one workload once to warm up
// and once timed, and prints one line of JSON (lab/README.md). `main.hpp` has the workloads of
// forks, and `fibers/main.hpp` those of fibers.
#pragma once

#include "counters.hpp"
#include "runtime_base.hpp"

#include <sys/resource.h>

#include <chrono>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>

namespace lab {

inline double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// The high-water mark of this process. (The mark of rusage would start at that of the program which
// started this process.)
inline long peak_rss_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("VmHWM:", 0) == 0) return std::atol(line.c_str() + 6);
    return -1;
}

// A workload enters the runtime as a whole, unless it has work to do outside the runtime first.
template <class R, class W>
std::int64_t enter(R& runtime, const W& workload) {
    if constexpr (requires { workload.run_in(runtime); })
        return workload.run_in(runtime);
    else
        return runtime.run([&] { return workload.run(); });
}

// Tells a runtime that very many fibers will be blocked at the same time, each with a stack.
struct many_blocked {};

// Tells a runtime that the workload recurses so deeply that stacks of 8 MiB overflow.
struct deep_recursion {};
inline constexpr std::size_t deep_stack = std::size_t{256} << 20;

template <class R, class W>
R runtime_for(const W& workload, unsigned threads) {
    if constexpr (requires { workload.recurses_deeply(); } &&
                  std::constructible_from<R, unsigned, deep_recursion>)
        if (workload.recurses_deeply()) return R(threads, deep_recursion());
    if constexpr (requires { W::blocks_many; } &&
                  std::constructible_from<R, unsigned, many_blocked>)
        return R(threads, many_blocked());
    else
        return R(threads);
}

// A workload may prepare its data before each run, and check its result afterwards. Neither is
// timed, and both run on the thread that starts the run.
template <class W>
void prepare(const W& workload) {
    if constexpr (requires { workload.prepare(); }) workload.prepare();
}
template <class W>
std::int64_t checked(const W& workload, std::int64_t result) {
    if constexpr (requires { workload.check(); })
        return workload.check();
    else
        return result;
}

// The additional figures that a workload reports: `, "name": number` …
template <class W>
std::string extra_of(const W& workload) {
    if constexpr (requires { workload.extra(); })
        return workload.extra();
    else
        return {};
}

template <class R, class W>
int measure(const W& workload, unsigned threads) {
    R runtime = runtime_for<R>(workload, threads);
    if (!std::getenv("LAB_NO_WARMUP")) {
        prepare(workload);
        enter(runtime, workload);
    }
    prepare(workload);
    const counted_run counters(runtime);
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t result = enter(runtime, workload);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double cpu_used = cpu_seconds() - cpu;
    const std::string counted = counters.text();
    const std::int64_t answer = checked(workload, result);
    std::printf("{\"answer\": %lld, \"expected\": %lld, \"seconds\": %.9f, \"cpu_seconds\": %.6f, "
                "\"tasks\": %lld, "
                "\"peak_rss_kib\": %ld%s%s}\n",
                static_cast<long long>(answer), static_cast<long long>(workload.expected()),
                seconds.count(), cpu_used, static_cast<long long>(workload.tasks()), peak_rss_kib(),
                extra_of(workload).c_str(), counted.c_str());
    return answer == workload.expected() ? 0 : 1;
}

// A table is a class with `run(name, size, threads)`, which returns the exit status, or nothing if
// the table has no workload of that name.
template <class... Tables>
int program(int argc, char** argv) {
    try {
        if (argc != 4) throw std::invalid_argument("usage: WORKLOAD SIZE THREADS");
        const std::string name = argv[1];
        const std::string size = argv[2];
        const auto threads = static_cast<unsigned>(parse_size(argv[3], 1, 1024));
        std::optional<int> status;
        if ((... || (status = Tables::run(name, size, threads)).has_value())) return *status;
        throw std::invalid_argument("no workload is called '" + name + "'");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

} // namespace lab
