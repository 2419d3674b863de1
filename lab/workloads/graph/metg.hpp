// SPDX-License-Identifier: Apache-2.0
// metg-trivial, metg-stencil, metg-fft, metg-random: the minimum effective task granularity of Task
// Bench (Slaughter et al., SC 2020), METG(50 %): the shortest task with which a runtime still
// spends half of the workers' time on the work of the tasks. Size is the number of steps of a graph
// that is 64 tasks wide. A task of step t depends on tasks of step t - 1:
//
//   trivial   on none
//   stencil   on its own column and the two columns beside it
//   fft       on its own column, and on the columns at a distance of 1, 2, 4 … 32, in turns
//   random    on its own column, and on each of the four nearest columns with a probability of 1/4
//
// The work of a task is a number of steps of xorshift (work.hpp). The program halves this number
// until less than half of the workers' time goes into the work. The granularity is the time of the
// run times the number of workers, divided by the number of tasks; the least of three runs counts.
// `metg_us` is the granularity at which the efficiency is 50 %, between the last two numbers. The
// time of a step of xorshift is measured before, on as many threads as there are workers.
//
// The answer is the number of tasks of the graph that found the results of all their predecessors
// in every run. The ports in other languages have equal graphs.
#pragma once

#include "../runtime_base.hpp"
#include "../work.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>

namespace lab {

struct metg_pattern {
    static constexpr std::uint32_t width = 64;
    enum kind { trivial, stencil, fft, random } which;

    // Calls f with each column on which column i of the step depends.
    template <class F>
    void for_each_column(std::uint32_t step, std::uint32_t i, F f) const {
        const auto inside = [&](std::int64_t column) {
            if (column >= 0 && column < width) f(static_cast<std::uint32_t>(column));
        };
        if (which == trivial || step == 0) return;
        if (which == stencil || which == fft) {
            const std::int64_t distance = which == stencil ? 1 : 1 << (step - 1) % 6;
            inside(i - distance);
            inside(i);
            inside(i + distance);
            return;
        }
        for (std::int64_t j = std::int64_t{i} - 2; j <= std::int64_t{i} + 2; ++j) {
            const auto number = (std::uint64_t{step} * width + i) * width + std::uint64_t(j + 1);
            const std::uint64_t mixed = number * 0x9E3779B97F4A7C15u;
            if (j == i || (mixed >> 32) % 4 == 0) inside(j);
        }
    }
    template <class F>
    void for_each_predecessor(std::uint32_t task, F f) const {
        const std::uint32_t step = task / width;
        for_each_column(step, task % width,
                        [&](std::uint32_t column) { f((step - 1) * width + column); });
    }
};

// A run has a number. A task whose predecessors all have the number of the run takes it, too.
struct metg_state {
    metg_pattern pattern;
    std::int64_t run = 0;
    std::int64_t steps_of_task = 0;
    std::vector<std::int64_t> runs; // of each task: the number of the last run that was right
};

struct metg_body {
    metg_state* state;
    void operator()(std::uint32_t task) const {
        std::int64_t right = state->run;
        state->pattern.for_each_predecessor(
            task, [&](std::uint32_t p) { right = std::min(right, state->runs[p]); });
        const bool worked = xorshift(task + 1, state->steps_of_task) != 0;
        state->runs[task] = worked && right == state->run ? right : -1;
    }
};

// Seconds of a step of xorshift while so many threads work: the least of five measurements.
inline double seconds_of_step(unsigned threads) {
    constexpr std::int64_t steps = 5'000'000;
    using seconds = std::chrono::duration<double>;
    double least = 1;
    for (int i = 0; i < 5; ++i) {
        std::vector<double> times(threads);
        std::vector<std::thread> all;
        std::barrier together(static_cast<std::ptrdiff_t>(threads));
        for (double& time : times)
            all.emplace_back([&together, &time] {
                together.arrive_and_wait();
                const auto start = std::chrono::steady_clock::now();
                const bool worked = xorshift(1, steps) != 0;
                time = worked ? seconds(std::chrono::steady_clock::now() - start).count() : 0;
            });
        for (auto& one : all) one.join();
        least = std::min(least, *std::max_element(times.begin(), times.end()) / steps);
    }
    return least;
}

template <class R>
struct metg {
    using graph = typename R::template graph<metg_body>;
    static constexpr std::int64_t most_steps_of_task = 1 << 15, least_steps_of_task = 4;

    std::int64_t steps;
    unsigned workers;
    mutable metg_state state;
    mutable std::unique_ptr<graph> built;
    mutable double step = 0;    // seconds of a step of xorshift
    mutable double metg_us = 0; // of the last sweep
    mutable bool right = false; // whether all tasks of that sweep were
    metg(const std::string& size, unsigned threads, metg_pattern::kind kind)
        : steps(parse_size(size, 1, 10'000)), workers(threads), state{{kind}} {
        state.runs.resize(static_cast<std::size_t>(tasks()));
    }

    std::int64_t run_in(R& runtime) const {
        if (!built) build(runtime);
        if (step == 0) step = seconds_of_step(workers);
        double last_granularity = 0, last_efficiency = 0;
        bool all_right = true;
        for (std::int64_t k = most_steps_of_task; k >= least_steps_of_task; k /= 2) {
            state.steps_of_task = k;
            const double granularity = seconds_of_run(all_right) * workers / double(tasks());
            const double efficiency = double(k) * step / granularity;
            if (efficiency < 0.5 && last_granularity != 0) {
                const double share = (last_efficiency - 0.5) / (last_efficiency - efficiency);
                metg_us = 1e6 * last_granularity * std::pow(granularity / last_granularity, share);
                break;
            }
            // An upper bound, if no task is short enough. A lower bound, if no task is long enough,
            // as on a machine that other programs use.
            metg_us = 1e6 * granularity;
            if (efficiency < 0.5) break;
            last_granularity = granularity;
            last_efficiency = efficiency;
        }
        right = all_right;
        return 0;
    }
    std::int64_t check() const {
        built.reset(); // before the runtime ends
        const auto found = std::count(state.runs.begin(), state.runs.end(), state.run);
        return right ? found : -1;
    }
    std::int64_t tasks() const { return steps * metg_pattern::width; }
    std::int64_t expected() const { return tasks(); }
    std::string extra() const {
        char text[48];
        std::snprintf(text, sizeof text, ", \"metg_us\": %.3f", metg_us);
        return text;
    }

private:
    void build(R& runtime) const {
        const auto count = static_cast<std::uint32_t>(tasks());
        built = std::make_unique<graph>(runtime, count, metg_body{&state});
        for (std::uint32_t task = 0; task < count; ++task)
            state.pattern.for_each_predecessor(task,
                                               [&](std::uint32_t p) { built->edge(p, task); });
    }
    // The least of three runs.
    double seconds_of_run(bool& all_right) const {
        double least = 1e9;
        for (int i = 0; i < 3; ++i) {
            ++state.run;
            const auto start = std::chrono::steady_clock::now();
            built->repeat(1);
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
            least = std::min(least, time.count());
            for (const std::int64_t run : state.runs) all_right = all_right && run == state.run;
        }
        return least;
    }
};

} // namespace lab
