// SPDX-License-Identifier: Apache-2.0
// The parts that the programs of the sweep share: the clock, work of a known length, quantiles, the
// processors, and the line of JSON that a program prints for each row.
//
// A row of one of Sennit's programs has `time` (the main figure) with its `unit` and `of`, and
// either `ideal`, the time without any loss, or `pieces`: the number of independent parts of the
// work, so the ideal is the time with one worker, divided by `pieces`.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace sweep {

inline std::int64_t now_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

inline double us_since(std::int64_t start_ns) {
    return static_cast<double>(now_ns() - start_ns) / 1e3;
}

// Work of so many steps: arithmetic without memory and clock, so that a preempted worker does not
// do less than its share.
inline std::uint64_t compute(std::uint64_t steps, std::uint64_t seed) {
    std::uint64_t x = seed | 1;
    for (std::uint64_t i = 0; i < steps; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        asm volatile("" : "+r"(x));
    }
    return x;
}

// The steps of `compute` that take one nanosecond here, measured at the first call.
inline double steps_per_ns() {
    static const double rate = [] {
        constexpr double steps = 2'000'000;
        double best = 0;
        for (std::uint64_t i = 0; i < 7; ++i) {
            const std::int64_t start = now_ns();
            [[maybe_unused]] volatile std::uint64_t sink = compute(2'000'000, i);
            best = std::max(best, steps / static_cast<double>(now_ns() - start));
        }
        return best;
    }();
    return rate;
}

inline std::uint64_t steps_for_ns(double ns) {
    return static_cast<std::uint64_t>(ns * steps_per_ns()) + 1;
}

// A pause within a loop that waits for another thread.
inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

inline void compute_until(std::int64_t end_ns) {
    while (now_ns() < end_ns) relax();
}

inline double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size()));
    return values[std::min(values.size() - 1, at)];
}

// The processors that the process may use.
inline std::vector<unsigned> processors() {
    cpu_set_t set;
    std::vector<unsigned> found;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (unsigned i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &set)) found.push_back(i);
    return found;
}

// Binds the calling thread to the processor at this place of the list, round robin.
inline void pin(const std::vector<unsigned>& list, std::size_t place) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(list[place % list.size()], &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// The number at this place of the command line, else the default.
inline double number(int argc, char** argv, int place, double otherwise) {
    return argc > place ? std::atof(argv[place]) : otherwise;
}

inline unsigned count(int argc, char** argv, int place, unsigned otherwise) {
    return static_cast<unsigned>(number(argc, argv, place, otherwise));
}

// The next number of threads to measure with: 1, 3, 7, 15 … and at last `most`.
inline unsigned next_count(unsigned now, unsigned most) {
    if (now == 0) return 1;
    return now + 1 >= most ? most + 1 : std::min(2 * now + 1, most - 1);
}

// One row of a program: a line of JSON on standard output.
class row {
public:
    explicit row(std::string_view program) { add("program", program); }

    row& add(std::string_view key, std::string_view value) {
        begin(key);
        text_ += '"';
        text_ += value;
        text_ += '"';
        return *this;
    }
    row& add(std::string_view key, double value) {
        begin(key);
        char text[32];
        std::snprintf(text, sizeof text, "%.6g", value);
        text_ += text;
        return *this;
    }
    // A member whose value is JSON already.
    row& add_json(std::string_view key, std::string_view value) {
        begin(key);
        text_ += value;
        return *this;
    }
    void print() const {
        std::printf("{%s}\n", text_.c_str());
        std::fflush(stdout);
    }

private:
    void begin(std::string_view key) {
        if (!text_.empty()) text_ += ", ";
        text_ += '"';
        text_ += key;
        text_ += "\": ";
    }

    std::string text_;
};

} // namespace sweep
