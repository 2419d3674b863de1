// SPDX-License-Identifier: Apache-2.0
// Tests runtimes that grow and shrink, and names of runtimes. A broken promise would hang a test.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

// Options without spare workers: fibers that run at the same time need one worker each.
sennit::runtime_options growing(unsigned workers, unsigned most) {
    return {.workers = workers, .max_spare_workers = 0, .max_workers = most};
}

// Runs `count` fibers that all spin until every one of them runs. With fewer workers than fibers
// they spin forever.
void expect_at_once(sennit::runtime& runtime, unsigned count) {
    std::atomic<unsigned> there{0};
    std::vector<sennit::fiber> all;
    for (unsigned i = 0; i < count; ++i)
        all.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, [&] {
            ++there;
            while (there.load() < count) {
            }
        });
    for (auto& one : all) one.join();
}

TEST(resize, grown_runtime_runs_more_fibers_in_parallel) {
    sennit::runtime runtime(growing(1, 4));
    EXPECT_EQ(runtime.workers(), 1u);
    for (const unsigned workers : {2u, 4u, 3u, 1u, 4u}) {
        runtime.resize(workers);
        EXPECT_EQ(runtime.workers(), workers);
        EXPECT_EQ(runtime.metrics().workers, workers);
        expect_at_once(runtime, workers);
    }
    // The metric counts activations by the watchdog only.
    EXPECT_EQ(runtime.metrics().spares_activated, 0u);
}

TEST(resize, fiber_resizes_its_own_runtime) {
    sennit::runtime runtime(growing(1, 2));
    runtime.run([&] {
        runtime.resize(2);
        std::atomic<bool> here{false};
        sennit::fiber other([&] { here = true; });
        while (!here.load()) { // Occupies the first worker.
        }
        runtime.resize(1);
    });
    EXPECT_EQ(runtime.workers(), 1u);
}

// The removed worker runs a fiber on which the other fibers depend. It ends that fiber first.
TEST(resize, removed_worker_ends_its_running_fiber) {
    sennit::runtime runtime(growing(1, 2));
    runtime.resize(2);
    std::atomic<int> begun{0};
    std::atomic<bool> go{false};
    std::atomic<int> ended{0};
    std::vector<sennit::fiber> both;
    for (int i = 0; i < 2; ++i)
        both.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, [&] {
            ++begun;
            while (!go.load()) {
            }
            // On the removed worker the child is queued, and the remaining workers take over that
            // queue.
            sennit::fiber child([&] { ++ended; });
            child.join();
            ++ended;
        });
    while (begun != 2) std::this_thread::yield();
    runtime.resize(1);
    go = true;
    for (auto& one : both) one.join();
    EXPECT_EQ(ended, 4);
}

TEST(resize, resize_loses_no_tasks) {
    const unsigned seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::minstd_rand chance(seed);
    sennit::runtime runtime({.workers = 1, .max_workers = 4});
    constexpr int strands = 17, rounds = 200;
    std::atomic<int> steps{0}, left{strands};
    std::vector<sennit::fiber> all;
    sennit::channel<int> ring(strands);
    for (int i = 0; i < strands; ++i)
        all.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, [&, i] {
            for (int round = 0; round < rounds; ++round) {
                (void)ring.push(i);
                auto [a, b] = sennit::fork_join([&] { return 1; },
                                                [&] { return ring.pop().has_value() ? 1 : 0; });
                steps += a + b;
                if (round % 16 == 0) sennit::this_fiber::sleep_for(1us);
                if (round % 3 == 0) sennit::this_fiber::yield();
            }
            --left;
        });
    while (left.load() != 0) {
        runtime.resize(1 + static_cast<unsigned>(chance() % 4));
        std::this_thread::yield();
    }
    for (auto& one : all) one.join();
    EXPECT_EQ(steps, 2 * strands * rounds);
}

struct count_up {
    int by;
};
struct how_much {
    using reply = int;
};
class tally : public sennit::actor<tally, count_up, how_much> {
    int sum = 0;

public:
    void on(count_up what) { sum += what.by; }
    int on(how_much) { return sum; }
};

// An actor's messages arrive at the worker that ran its last batch, even if that worker has been
// removed.
TEST(resize, actor_receives_messages_after_its_worker_is_removed) {
    sennit::runtime runtime(growing(1, 3));
    runtime.run([&] {
        sennit::actor_group group;
        std::vector<sennit::actor_ref<tally>> all;
        for (int i = 0; i < 8; ++i) all.push_back(group.spawn<tally>());
        for (unsigned round = 0; round < 60; ++round) {
            runtime.resize(1 + round % 3);
            for (auto& one : all) one.tell(count_up{1});
            if (round % 4 == 0) sennit::this_fiber::yield();
        }
        for (auto& one : all) EXPECT_EQ(one.ask(how_much{}).get(), 60);
    });
}

TEST(resize, resize_rejects_counts_out_of_bounds) {
    sennit::runtime fixed({.workers = 2});
    EXPECT_THROW(fixed.resize(1), std::invalid_argument);
    EXPECT_THROW(fixed.resize(3), std::invalid_argument);
    fixed.resize(2);
    sennit::runtime runtime(growing(2, 3));
    EXPECT_THROW(runtime.resize(1), std::invalid_argument);
    EXPECT_THROW(runtime.resize(0), std::invalid_argument);
    try {
        runtime.resize(4);
        FAIL() << "resize accepted too many workers";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "sennit: [SNT-014] this runtime may have from 2 to 3 workers, not 4; "
                     "runtime_options::max_workers sets the upper bound");
    }
    EXPECT_EQ(runtime.workers(), 2u);
    EXPECT_THROW(sennit::runtime(growing(4, 3)), std::invalid_argument);
    EXPECT_THROW(sennit::runtime(growing(4, 1'000'000)), std::invalid_argument);
    EXPECT_THROW(sennit::runtime(
                     {.workers = 1, .policy = sennit::scheduling::round_robin, .max_workers = 2}),
                 std::invalid_argument);
}

// ---- a runtime as a group of workers

TEST(resize, runtime_runs_only_its_own_fibers) {
    sennit::runtime compute({.workers = 1, .max_workers = 2, .name = "compute"});
    sennit::runtime io({.workers = 1, .max_workers = 3, .name = "io"});
    io.resize(3);
    compute.resize(2);
    std::atomic<int> strays{0}, ran{0};
    std::vector<sennit::fiber> all;
    for (int i = 0; i < 100; ++i) {
        sennit::runtime& home = i % 2 == 0 ? io : compute;
        all.emplace_back(sennit::fiber_attributes{.runtime = &home}, [&] {
            const auto here = [&] { return sennit::sched::current_runtime() == &home.core(); };
            strays += !here();
            sennit::this_fiber::yield();
            auto [a, b] = sennit::fork_join(here, here);
            strays += !a + !b;
            sennit::runtime& away = &home == &io ? compute : io;
            away.run([&] {
                strays += sennit::sched::current_runtime() != &away.core();
            }); // The fiber enters the other runtime and returns.
            strays += !here();
            ++ran;
        });
    }
    for (auto& one : all) one.join();
    EXPECT_EQ(strays, 0);
    EXPECT_EQ(ran, 100);
    EXPECT_GE(io.metrics().tasks_run, 100u);
}

TEST(resize, runtime_has_name) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0, .name = "io"});
    const sennit::runtime nameless({.workers = 1});
    EXPECT_EQ(runtime.name(), "io");
    EXPECT_EQ(nameless.name(), "");
    std::ostringstream text;
    runtime.dump(text);
    EXPECT_NE(text.str().find("sennit: runtime 'io' 0x"), std::string::npos) << text.str();
    char thread[16] = "";
    // The main thread would run the call itself.
    std::thread([&] {
        runtime.run([&] { pthread_getname_np(pthread_self(), thread, sizeof thread); });
    }).join();
    EXPECT_STREQ(thread, "io-0");
}

} // namespace
