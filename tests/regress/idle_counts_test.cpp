// SPDX-License-Identifier: Apache-2.0
// What idle workers cost beside a given amount of work, as counts: memory barriers and wake-ups for
// each parallel loop, and for each fork of a program with little parallelism. Sixteen workers share
// the processors that there are. bench/README.md has the counts as measured.
#include <sennit/par.hpp>
#include <sennit/sennit.hpp>

#include "sennit/detail/base/sanitizers.hpp"
#include "sys/clock.hpp"
#include "sys/membarrier.hpp"
#include "sys/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>

namespace {

#if defined(SENNIT_STRESS) || defined(SENNIT_THREAD_SANITIZER) || defined(SENNIT_ADDRESS_SANITIZER)
constexpr bool counts_are_those_of_users = false;
#else
constexpr bool counts_are_those_of_users = true;
#endif

// About a microsecond of arithmetic.
void compute_about_1us() noexcept {
    std::uint64_t x = 1;
    for (int i = 0; i < 600; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        asm volatile("" : "+r"(x));
    }
}
void compute_about_us(int count) noexcept {
    for (int i = 0; i < count; ++i) compute_about_1us();
}

struct counts {
    double barriers, wakes;
};

constexpr unsigned worker_count = 16;

std::int64_t cpu_time_ns() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// The share that this process has got, between two moments, of the processors that it can use.
class processor_share {
public:
    explicit processor_share(unsigned most)
        : processors_(std::min(sennit::sys::usable_cpus(), most)) {}
    double get() const {
        const double wall = static_cast<double>(sennit::sys::now_ns() - wall_);
        return static_cast<double>(cpu_time_ns() - cpu_) / (wall * processors_);
    }

private:
    unsigned processors_;
    std::int64_t wall_ = sennit::sys::now_ns();
    std::int64_t cpu_ = cpu_time_ns();
};

// Calls `work`, which has `strands` parallel strands, in series of `units` until the counts for
// each call are within `limit`, twenty times at most. Returns the counts of the last series that
// had the processors almost to itself: beside other programs, a searcher waits for owners that do
// not run, and counts grow with the load. No value if every series was disturbed.
template <class F>
std::optional<counts> counts_of_unit(sennit::runtime& runtime, unsigned strands, int units,
                                     counts limit, F work) {
    std::optional<counts> undisturbed;
    for (int series = 0; series < 20; ++series) {
        sennit::runtime_metrics before, after;
        const processor_share share(strands);
        runtime.run([&] {
            before = runtime.metrics();
            for (int i = 0; i < units; ++i) work();
            after = runtime.metrics();
        });
        const bool disturbed = share.get() < 0.8;
        const auto of_unit = [=](std::uint64_t from, std::uint64_t to) {
            return static_cast<double>(to - from) / units;
        };
        const counts seen{of_unit(before.barriers, after.barriers),
                          of_unit(before.wakes, after.wakes)};
        if (seen.barriers <= limit.barriers && seen.wakes <= limit.wakes) return seen;
        if (!disturbed) undisturbed = seen;
    }
    return undisturbed;
}

bool counts_barriers() {
    return counts_are_those_of_users && sennit::sys::barrier_available();
}

// 1.4 with two processors. A barrier for each owner whose publication is forced made it 8.5.
TEST(idle_counts, loop_of_1ms_passes_few_barriers_and_wakes_few_workers) {
    if (!counts_barriers()) GTEST_SKIP() << "without membarrier, or in a build that provokes waits";
    sennit::runtime runtime({.workers = worker_count});
    const counts limit{.barriers = 4, .wakes = 40};
    const auto seen = counts_of_unit(runtime, worker_count, 20, limit, [] {
        sennit::par::for_each_n(std::size_t{16'000},
                                [](std::size_t) noexcept { compute_about_1us(); });
        compute_about_us(100);
    });
    if (!seen) GTEST_SKIP() << "other programs took the processors during every series";
    EXPECT_LE(seen->barriers, limit.barriers);
    EXPECT_LE(seen->wakes, limit.wakes);
}

// 0.01 barriers and 0.5 wake-ups with two processors. A barrier for each sleep of the last searcher
// made it 0.5.
TEST(idle_counts, fork_of_50us_passes_few_barriers_and_wakes_few_workers) {
    if (!counts_barriers()) GTEST_SKIP() << "without membarrier, or in a build that provokes waits";
    sennit::runtime runtime({.workers = worker_count});
    const counts limit{.barriers = 0.25, .wakes = 2};
    const auto seen = counts_of_unit(runtime, 2, 200, limit, [] {
        sennit::fork_join([] { compute_about_us(50); }, [] { compute_about_us(50); });
    });
    if (!seen) GTEST_SKIP() << "other programs took the processors during every series";
    EXPECT_LE(seen->barriers, limit.barriers);
    EXPECT_LE(seen->wakes, limit.wakes);
}

} // namespace
