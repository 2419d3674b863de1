// SPDX-License-Identifier: Apache-2.0
// Random programs whose fibers keep their threads, while the runtime grows and shrinks, the process
// forks, and other runtimes come and go. Everything that was started must run, and nothing may be
// left at the end of a round. A round that hangs ends the test with its seed.
#include "liveness_programs.hpp"
#include "nothing_left.hpp"
#include "random_test.hpp"
#include "stall_alarm.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace liveness_stress {
namespace {

using namespace std::chrono_literals;
using liveness_programs::world;

#ifdef SENNIT_SLOW_TESTS
constexpr int max_depth = 2;
#else
constexpr int max_depth = 3;
#endif

// Threads outside the runtime that disturb it until they are destroyed.
class disturbance {
public:
    disturbance(world& all, dice& with) {
        if (with.one_in(2))
            start([&all, mine = dice(with.seed())]() mutable {
                liveness_programs::resize(all, mine);
                std::this_thread::sleep_for(std::chrono::microseconds(mine.from(0, 2'000)));
            });
        if (with.one_in(8))
            start([&all, mine = dice(with.seed())]() mutable {
                liveness_programs::fork_child(all, mine);
                std::this_thread::sleep_for(std::chrono::milliseconds(mine.from(0, 5)));
            });
        if (with.one_in(4))
            start([&all, mine = dice(with.seed())]() mutable {
                liveness_programs::brief_runtime(all, mine);
                std::this_thread::sleep_for(std::chrono::milliseconds(mine.from(0, 5)));
            });
    }
    ~disturbance() {
        over_ = true;
        for (auto& each : threads_) each.join();
    }
    disturbance(const disturbance&) = delete;
    disturbance& operator=(const disturbance&) = delete;

private:
    template <class F>
    void start(F step) {
        threads_.emplace_back([this, step]() mutable {
            do step();
            while (!over_);
        });
    }
    std::atomic<bool> over_{false};
    std::vector<std::thread> threads_;
};

// Returns false if a task was lost or an object is left.
bool round(std::uint64_t seed) {
    dice with(seed);
    constexpr std::array sizes{1u, 1u, 2u, 2u, 3u, 4u, 8u};
    const unsigned workers = sizes[static_cast<std::size_t>(with.from(0, int{sizes.size()} - 1))];
    const unsigned spares = static_cast<unsigned>(with.from(1, 5));
    const unsigned most = with.one_in(2) ? 0 : workers + static_cast<unsigned>(with.from(1, 3));
    using enum sennit::scheduling;
    sennit::runtime runtime({.workers = workers,
                             .stack_size = 256 << 10,
                             .policy = with.one_in(4) ? sharing : stealing,
                             .max_spare_workers = spares,
                             .max_workers = most});
    world all(runtime, static_cast<int>(workers + spares));
    all.least_workers = workers;
    all.max_workers = most == 0 ? workers : most;
    {
        const disturbance around(all, with);
        const auto tree = [&all, depth = with.from(1, max_depth), seed = with.seed()] {
            dice mine(seed);
            liveness_programs::tree(all, mine, depth);
        };
        std::optional<std::thread> beside; // an outside thread that enters the runtime, too
        if (with.one_in(3))
            beside.emplace([&all, &runtime, mine = dice(with.seed())]() mutable {
                runtime.run([&] { liveness_programs::tree(all, mine, 1); });
            });
        runtime.run(tree);
        if (beside) beside->join();
    }
    return all.complete() && nothing_left(runtime);
}

TEST(stress, random_programs_that_keep_their_threads_end) {
    const auto end = std::chrono::steady_clock::now() + test_duration(8s);
    std::uint64_t seed = first_seed();
    std::cout << "seed " << seed << std::endl;
    stall_alarm alarm;
    long rounds = 0;
    do {
        const std::string repeat = "repeat the round with SENNIT_TEST_SEED=" + std::to_string(seed);
        alarm.begin_round(repeat);
        ASSERT_TRUE(round(seed)) << repeat;
        ++seed;
        ++rounds;
    } while (std::chrono::steady_clock::now() < end);
    std::cout << rounds << " rounds\n";
}

} // namespace
} // namespace liveness_stress
