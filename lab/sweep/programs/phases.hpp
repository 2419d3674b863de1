// SPDX-License-Identifier: Apache-2.0
// Short parallel loops one after the other, with serial work between two of them: the cost of
// workers that park and wake often. The programs phases and phases_PEER run the loops in Sennit and
// in its peers.
//
//     phases THREADS LOOP_US GAP_US LOOPS [in|out]
//
// LOOP_US is the time of a loop if THREADS threads share it without loss, so the work of a loop
// grows with THREADS. The caller computes for GAP_US after each loop. With `in` the series of loops
// is one call of `runtime::run`; with `out` each loop is a call of its own from outside. Peers have
// no such difference.
#pragma once

#include "measure.hpp"

#include <atomic>
#include <string>

namespace sweep {

constexpr double element_ns = 1000; // the work of an index of a loop

struct phases {
    phases(int argc, char** argv)
        : threads(count(argc, argv, 1, 2)), loop_us(number(argc, argv, 2, 1000)),
          gap_us(number(argc, argv, 3, 100)), loops(count(argc, argv, 4, 200)),
          mode(argc > 5 ? argv[5] : "in"), steps_of_element(steps_for_ns(element_ns)),
          steps_of_gap(steps_for_ns(gap_us * 1000)),
          elements(static_cast<std::size_t>(threads * loop_us * 1000 / element_ns)) {}

    void element(std::size_t i) const { keep(compute(steps_of_element, i)); }
    void gap() const { keep(compute(steps_of_gap, 7)); }

    // Runs `n` loops. The optional list gets the time of each, in microseconds.
    template <class Loop>
    void series(std::size_t n, Loop loop, std::vector<double>* took) const {
        for (std::size_t i = 0; i < n; ++i) {
            const std::int64_t start = now_ns();
            loop();
            if (took) took->push_back(us_since(start));
            gap();
        }
    }

    row result(const char* program, const std::vector<double>& took) const {
        const auto usable = std::min<std::size_t>(threads, processors().size());
        const double work_us = static_cast<double>(elements) * element_ns / 1e3;
        return row(program)
            .add("threads", threads)
            .add("mode", mode)
            .add("unit", "us")
            .add("of", "a loop")
            .add("time", quantile(took, 0.5))
            .add("ideal", work_us / static_cast<double>(usable))
            .add("p10", quantile(took, 0.1))
            .add("p90", quantile(took, 0.9))
            .add("p99", quantile(took, 0.99));
    }

    // The whole program of a peer.
    template <class Loop>
    void measure(const char* program, Loop loop) const {
        std::vector<double> took;
        series(warm_up(), loop, nullptr);
        series(loops, loop, &took);
        result(program, took).print();
    }

    std::size_t warm_up() const { return loops / 10 + 3; }

    const unsigned threads;
    const double loop_us, gap_us;
    const std::size_t loops;
    const std::string mode;
    const std::uint64_t steps_of_element, steps_of_gap;
    const std::size_t elements;

private:
    // The compiler cannot know that no computation ends with 42.
    static void keep(std::uint64_t value) {
        static std::atomic<std::uint64_t> sink{0};
        if (value == 42) sink.fetch_add(1, std::memory_order_relaxed);
    }
};

} // namespace sweep
