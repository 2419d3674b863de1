// SPDX-License-Identifier: Apache-2.0
// The cost of a futex wake-up. The first rows: the time of the call, and the time until the woken
// thread runs, after sleeps of several lengths. The other rows: the time until the last of several
// sleepers runs, if one thread wakes all of them, and if each woken thread wakes two more.
//
//     futex_wake [MOST_THREADS]
#include "measure.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

using namespace sweep;

namespace {

class alignas(128) sleeper {
public:
    void wait(std::uint32_t seen) {
        while (word_.load() == seen)
            ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    }
    void wake() {
        word_.fetch_add(1);
        ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

private:
    std::atomic<std::uint32_t> word_{0};
};

void wake_one(const std::vector<unsigned>& list, double slept_us) {
    sleeper target;
    std::atomic<std::int64_t> ran{0};
    std::atomic<bool> stop{false};
    std::thread thread([&] {
        pin(list, 1);
        for (std::uint32_t k = 0; !stop.load(); ++k) {
            target.wait(k);
            ran.store(now_ns());
        }
    });
    pin(list, 0);
    std::vector<double> call, until_run;
    for (int i = 0; i < 300; ++i) {
        compute_until(now_ns() + static_cast<std::int64_t>(slept_us * 1000));
        ran.store(0);
        const std::int64_t start = now_ns();
        target.wake();
        call.push_back(us_since(start));
        while (ran.load() == 0) relax();
        until_run.push_back(static_cast<double>(ran.load() - start) / 1e3);
    }
    stop = true;
    target.wake();
    thread.join();
    row("futex_wake")
        .add("slept_us", slept_us)
        .add("call_p50_us", quantile(call, 0.5))
        .add("call_p90_us", quantile(call, 0.9))
        .add("runs_p50_us", quantile(until_run, 0.5))
        .add("runs_p90_us", quantile(until_run, 0.9))
        .print();
}

void wake_many(const std::vector<unsigned>& list, unsigned n, bool tree) {
    std::vector<sleeper> sleepers(n);
    std::atomic<bool> stop{false};
    std::atomic<unsigned> running{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < n; ++i)
        threads.emplace_back([&, i] {
            pin(list, i + 1);
            for (std::uint32_t k = 0;; ++k) {
                sleepers[i].wait(k);
                if (stop.load()) return;
                for (unsigned c = 2 * i + 1; tree && c <= 2 * i + 2 && c < n; ++c)
                    sleepers[c].wake();
                running.fetch_add(1);
            }
        });
    pin(list, 0);
    std::vector<double> took;
    for (int round = 0; round < 100; ++round) {
        compute_until(now_ns() + 300'000);
        running = 0;
        const std::int64_t start = now_ns();
        for (unsigned i = 0; i < (tree ? 1 : n); ++i) sleepers[i].wake();
        while (running.load() != n) relax();
        took.push_back(us_since(start));
    }
    stop = true;
    for (sleeper& each : sleepers) each.wake();
    for (std::thread& one : threads) one.join();
    row("futex_wake")
        .add("sleepers", n)
        .add("by", tree ? "a tree" : "one thread")
        .add("all_run_p50_us", quantile(took, 0.5))
        .add("all_run_p90_us", quantile(took, 0.9))
        .print();
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<unsigned> list = processors();
    const auto all = static_cast<unsigned>(list.size());
    const unsigned most = std::min(all, count(argc, argv, 1, all));
    for (const double slept_us : {20.0, 100.0, 1000.0}) wake_one(list, slept_us);
    for (unsigned n = 1; n < most; n = next_count(n, most))
        for (const bool tree : {false, true}) wake_many(list, n, tree);
}
