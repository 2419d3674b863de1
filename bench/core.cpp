// SPDX-License-Identifier: Apache-2.0
// Figures of the core: the cost of a fork against the plain function, the time that a thief waits
// for the forks of a worker in a long leaf, the processor time of idle workers, and the cost of a
// runtime and of a job. Run it on an otherwise idle machine.
#include <sennit/sennit.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

double seconds(const std::function<void()>& body) {
    const auto start = clock_type::now();
    body();
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void keep(long value) {
    asm volatile("" ::"r"(value) : "memory");
}

[[gnu::noinline]] long plain_fib(int n) {
    if (n < 2) return n;
    return plain_fib(n - 1) + plain_fib(n - 2);
}

// The plain function with two real calls. The asm statement keeps the compiler from turning the
// second call into a loop.
[[gnu::noinline]] long two_calls_fib(int n) {
    if (n < 2) return n;
    const long a = two_calls_fib(n - 1);
    long b = two_calls_fib(n - 2);
    asm volatile("" : "+r"(b));
    return a + b;
}

[[gnu::noinline]] long fork_fib(int n) {
    if (n < 2) return n;
    auto [a, b] =
        sennit::fork_join([=] { return fork_fib(n - 1); }, [=] { return fork_fib(n - 2); });
    return a + b;
}

[[gnu::noinline]] long plain_skynet(long first, long count) {
    if (count == 1) return first;
    long sum = 0;
    for (long i = 0; i < 10; ++i) sum += plain_skynet(first + i * (count / 10), count / 10);
    return sum;
}

[[gnu::noinline]] long fork_skynet(long first, long count) {
    if (count == 1) return first;
    return sennit::fork_reduce(10, 0L, std::plus<>{}, [=](std::size_t i) {
        return fork_skynet(first + static_cast<long>(i) * (count / 10), count / 10);
    });
}

void row(const char* what, double reference, const std::vector<double>& ratios) {
    std::printf("%-52s %9.4f s   ratio %.3f\n", what, reference, median(ratios));
}

void forks() {
    volatile int n = 39;
    volatile long leaves = 100'000'000;
    std::vector<double> fib_ratio, floor_ratio, skynet_ratio, plain, sky;
    sennit::runtime one({.workers = 1});
    for (int round = 0; round < 9; ++round) {
        plain.push_back(seconds([&] { keep(plain_fib(n)); }));
        floor_ratio.push_back(seconds([&] { keep(two_calls_fib(n)); }) / plain.back());
        fib_ratio.push_back(one.run([&] { return seconds([&] { keep(fork_fib(n)); }); }) /
                            plain.back());
        sky.push_back(seconds([&] { keep(plain_skynet(0, leaves)); }));
        skynet_ratio.push_back(
            one.run([&] { return seconds([&] { keep(fork_skynet(0, leaves)); }); }) / sky.back());
    }
    row("fib(39), 1 worker / plain function", median(plain), fib_ratio);
    row("fib(39), plain function with two real calls / plain", median(plain), floor_ratio);
    row("skynet(8), 1 worker / plain function", median(sky), skynet_ratio);
}

// Measures the time that the system takes to wake a thread that has slept for 20 ms, with a bare
// futex. This time is the floor of the "asked" wait below.
void bare_wakes() {
    std::atomic<int> round{0};
    clock_type::time_point awake;
    std::atomic<int> seen{0};
    std::vector<double> waits;
    constexpr int rounds = 50;
    std::thread sleeper([&] {
        for (int i = 0; i < rounds; ++i) {
            round.wait(i);
            awake = clock_type::now();
            seen = i + 1;
        }
    });
    for (int i = 0; i < rounds; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const auto woken = clock_type::now();
        round = i + 1;
        round.notify_one();
        while (seen != i + 1) {
        }
        waits.push_back(std::chrono::duration<double, std::micro>(awake - woken).count());
    }
    sleeper.join();
    std::printf(
        "a bare futex wake of a sleeping std::thread           median %.1f us, worst %.1f us\n",
        median(waits), *std::max_element(waits.begin(), waits.end()));
}

void spin_for(std::chrono::milliseconds time) {
    for (const auto end = clock_type::now() + time; clock_type::now() < end;) {
    }
}

void waits() {
    sennit::runtime two({.workers = 2});
    std::vector<double> direct, forced;
    for (int round = 0; round < 50; ++round) {
        clock_type::time_point forked, started, freed;
        two.run([&] {
            sennit::fork_join(
                [&] {
                    forked = clock_type::now();
                    spin_for(std::chrono::milliseconds(100));
                },
                [&] { started = clock_type::now(); });
        });
        direct.push_back(std::chrono::duration<double, std::micro>(started - forked).count());
        // The owner is in a leaf and still has two private forks when the other worker runs out of
        // work, so the other worker must force their publication.
        two.run([&] {
            sennit::fork_join(
                [&] {
                    sennit::fork_join(
                        [&] {
                            sennit::fork_join([&] { spin_for(std::chrono::milliseconds(100)); },
                                              [] {});
                        },
                        [&] { started = clock_type::now(); });
                },
                [&] {
                    spin_for(std::chrono::milliseconds(20));
                    freed = clock_type::now();
                });
        });
        forced.push_back(std::chrono::duration<double, std::micro>(started - freed).count());
    }
    std::printf("thief's wait while the owner sits in a 100 ms leaf    asked: median %.1f us, "
                "worst %.1f us\n",
                median(direct), *std::max_element(direct.begin(), direct.end()));
    std::printf("                                                      forced: median %.1f us, "
                "worst %.1f us\n",
                median(forced), *std::max_element(forced.begin(), forced.end()));
}

double cpu_now() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void idle() {
    sennit::runtime two({.workers = 2});
    two.run([] { keep(fork_fib(25)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double before = cpu_now();
    std::this_thread::sleep_for(std::chrono::seconds(5));
    std::printf("idle workers over 5 s                                 %.4f %% of one core\n",
                (cpu_now() - before) / 5 * 100);
}

void life() {
    std::vector<double> make, job;
    for (int round = 0; round < 200; ++round)
        make.push_back(seconds([] { sennit::runtime({.workers = 2}).run([] {}); }) * 1e6);
    sennit::runtime two({.workers = 2});
    for (int round = 0; round < 2000; ++round)
        job.push_back(seconds([&] { two.run([] {}); }) * 1e6);
    std::printf("runtime with 2 workers made, used and destroyed       %.0f us\n", median(make));
    std::printf("run() from outside, there and back                    %.2f us\n", median(job));
}

} // namespace

int main() {
    forks();
    bare_wakes();
    waits();
    idle();
    life();
}
