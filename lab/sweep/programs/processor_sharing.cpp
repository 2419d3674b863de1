// SPDX-License-Identifier: Apache-2.0
// Costs of threads that share processors, for models/scaling. The first row: a pause of a spinning
// thread. The second row: how long one of two threads that compute on one processor runs before the
// other one runs. The other rows: the time until a woken thread runs on a processor where other
// threads compute, after sleeps of several lengths.
//
//     processor_sharing [SECONDS]
#include "measure.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

using namespace sweep;

namespace {

constexpr std::int64_t gap_ns = 20'000; // a thread that misses so much has lost its processor

// Computes until the end. Adds the length of each stretch between two losses of the processor.
void note_stretches(std::int64_t end_ns, std::vector<double>& us) {
    std::int64_t begin = now_ns();
    for (std::int64_t last = begin; last < end_ns;) {
        const std::int64_t now = now_ns();
        if (now - last > gap_ns) {
            us.push_back(static_cast<double>(last - begin) / 1e3);
            begin = now;
        }
        last = now;
    }
}

void share(const std::vector<unsigned>& list, double seconds) {
    const std::int64_t end = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    std::vector<double> one, other;
    std::thread second([&] {
        pin(list, list.size() - 1);
        note_stretches(end, other);
    });
    pin(list, list.size() - 1);
    note_stretches(end, one);
    second.join();
    one.insert(one.end(), other.begin(), other.end());
    row("processor_sharing")
        .add("computing", 2)
        .add("stretches", static_cast<double>(one.size()))
        .add("runs_for_p50_us", quantile(one, 0.5))
        .add("runs_for_p90_us", quantile(one, 0.9))
        .print();
}

void wake_beside(const std::vector<unsigned>& list, unsigned computing, double slept_us,
                 double seconds) {
    const std::int64_t end = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    std::atomic<std::uint32_t> word{0};
    std::atomic<std::int64_t> ran{0};
    std::atomic<bool> stop{false};
    std::thread sleeper([&] {
        pin(list, list.size() - 1);
        for (std::uint32_t seen = 0; !stop.load(); ++seen) {
            while (word.load() == seen)
                ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
            ran.store(now_ns());
        }
    });
    std::vector<std::thread> others;
    for (unsigned i = 0; i < computing; ++i)
        others.emplace_back([&] {
            pin(list, list.size() - 1);
            while (!stop.load()) {
            }
        });
    pin(list, 0);
    std::vector<double> until_run;
    while (now_ns() < end) {
        compute_until(now_ns() + static_cast<std::int64_t>(slept_us * 1e3));
        ran.store(0);
        const std::int64_t start = now_ns();
        word.fetch_add(1);
        ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
        while (ran.load() == 0) relax();
        until_run.push_back(static_cast<double>(ran.load() - start) / 1e3);
    }
    stop = true;
    word.fetch_add(1);
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    sleeper.join();
    for (std::thread& one : others) one.join();
    row("processor_sharing")
        .add("computing", computing)
        .add("slept_us", slept_us)
        .add("wakes", static_cast<double>(until_run.size()))
        .add("runs_p50_us", quantile(until_run, 0.5))
        .add("runs_p90_us", quantile(until_run, 0.9))
        .print();
}

void measure_pause() {
    constexpr unsigned pauses = 100'000;
    double best_ns = 1e9;
    for (int run = 0; run < 5; ++run) {
        const std::int64_t start = now_ns();
        for (unsigned i = 0; i < pauses; ++i) relax();
        best_ns = std::min(best_ns, static_cast<double>(now_ns() - start) / pauses);
    }
    row("processor_sharing").add("pauses", pauses).add("pause_ns", best_ns).print();
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<unsigned> list = processors();
    const double seconds = number(argc, argv, 1, 0.5);
    measure_pause();
    share(list, seconds);
    if (list.size() < 2) return 0; // The waker would not run while the other thread computes.
    for (const unsigned computing : {1u, 2u, 4u})
        for (const double slept_us : {20.0, 100.0, 1000.0})
            wake_beside(list, computing, slept_us, seconds);
}
