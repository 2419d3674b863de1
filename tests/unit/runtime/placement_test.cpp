// SPDX-License-Identifier: Apache-2.0
// Tests fibers that are bound to a worker, and fibers with a larger stack.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class pinned : public testing::TestWithParam<unsigned> {
protected:
    // Without spare workers: a fiber that is created on a spare worker is bound to another worker.
    sennit::runtime runtime{{.workers = GetParam(), .max_spare_workers = 0}};
};
INSTANTIATE_TEST_SUITE_P(workers, pinned, testing::Values(1u, 2u, 4u));

// Blocks in every way, and counts how often the fiber continued on another thread.
int times_moved(sennit::channel<int>& words, sennit::mutex& guard) {
    const auto where = std::this_thread::get_id();
    int moved = 0;
    const auto look = [&] { moved += std::this_thread::get_id() != where; };
    for (int i = 0; i < 50; ++i) {
        words.push(i);
        look();
        sennit::this_fiber::yield();
        look();
        {
            std::lock_guard inside(guard);
            sennit::this_fiber::yield();
        }
        look();
        auto [a, b] = sennit::fork_join([] { return 1; }, [] { return 2; });
        EXPECT_EQ(a + b, 3);
        look();
        sennit::fiber child([] { sennit::this_fiber::yield(); });
        child.join();
        look();
        sennit::this_fiber::sleep_for(1us);
        look();
    }
    return moved;
}

TEST_P(pinned, pinned_fibers_stay_on_their_worker) {
    sennit::channel<int> words;
    sennit::mutex guard;
    std::vector<sennit::fiber> all;
    std::vector<std::thread::id> seen(GetParam());
    std::atomic<int> moved{0};
    for (unsigned i = 0; i < GetParam(); ++i) // Fibers from outside.
        all.emplace_back(sennit::fiber_attributes{.runtime = &runtime, .worker = i}, [&, i] {
            seen[i] = std::this_thread::get_id();
            moved += times_moved(words, guard);
        });
    // Fibers from inside. The worker's thread is not that of this function if the main thread runs
    // it in the worker's place.
    std::vector<std::thread::id> inside(4);
    runtime.run([&] {
        for (auto& thread : inside)
            all.emplace_back(sennit::fiber_attributes{.pinned = true}, [&] {
                thread = std::this_thread::get_id();
                moved += times_moved(words, guard);
            });
    });
    sennit::fiber reader({.runtime = &runtime}, [&] {
        for (int i = 0; i < 50 * static_cast<int>(GetParam() + 4); ++i) words.pop();
    });
    for (auto& one : all) one.join();
    reader.join();
    EXPECT_EQ(moved, 0);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), GetParam());
    EXPECT_EQ(std::set(inside.begin(), inside.end()).size(), 1u);
}

TEST_P(pinned, pinned_fiber_runs_while_its_worker_has_other_work) {
    runtime.run([&] {
        std::atomic<bool> go{false};
        sennit::fiber waits({.worker = 0u}, [&] { go = true; });
        while (!go) sennit::this_fiber::yield();
        waits.join();
    });
}

TEST_P(pinned, nursery_children_may_be_pinned_and_launched_now) {
    runtime.run([&] {
        std::atomic<int> ran{0};
        sennit::nursery all;
        for (unsigned i = 0; i < GetParam(); ++i) all.start({.worker = i}, [&] { ++ran; });
        sennit::this_fiber::yield(); // From here on a worker's own thread runs this function.
        all.start({.policy = sennit::launch::now, .pinned = true},
                  [&, mine = std::this_thread::get_id()] {
                      EXPECT_EQ(std::this_thread::get_id(), mine);
                      ++ran;
                  });
        all.join();
        EXPECT_EQ(ran, static_cast<int>(GetParam()) + 1);
    });
}

TEST_P(pinned, pinning_to_missing_worker_is_error) {
    sennit::fiber none;
    EXPECT_THROW(none = sennit::fiber({.runtime = &runtime, .worker = GetParam()}, [] {}),
                 std::invalid_argument);
    EXPECT_FALSE(none.joinable());
}

// Uses `bytes` bytes of the stack.
std::size_t deep(std::size_t bytes) {
    volatile char block[4096];
    block[0] = 1;
    return bytes < 2 * sizeof block
               ? std::size_t{1}
               : deep(bytes - sizeof block) + static_cast<std::size_t>(block[0]);
}

TEST(larger_stack, fiber_gets_requested_stack_size) {
    sennit::runtime runtime({.workers = 2, .stack_size = 64 << 10});
    runtime.run([] {
        sennit::fiber small([] { EXPECT_GT(deep(16 << 10), 1u); });
        sennit::fiber large({.stack_size = 4 << 20}, [] { EXPECT_GT(deep(3 << 20), 500u); });
        sennit::fiber at_once({.policy = sennit::launch::now, .stack_size = 4 << 20}, [] {
            sennit::this_fiber::yield();
            EXPECT_GT(deep(3 << 20), 500u);
        });
        sennit::fiber no_more_than_usual({.stack_size = 1000},
                                         [] { EXPECT_GT(deep(16 << 10), 1u); });
        small.join();
        large.join();
        at_once.join();
        no_more_than_usual.join();
    });
}

TEST(larger_stack, large_stack_is_reused) {
    sennit::runtime runtime({.workers = 1, .stack_size = 64 << 10});
    runtime.run([] {
        for (int i = 0; i < 100; ++i) {
            sennit::fiber large({.stack_size = 1 << 20}, [] {
                sennit::this_fiber::yield();
                EXPECT_GT(deep(512 << 10), 1u);
            });
            large.join();
        }
    });
    const auto seen = runtime.metrics();
    EXPECT_LT(seen.stacks_live + seen.stacks_cached, 20u);
}

TEST(larger_stack, stack_size_beyond_limit_is_error) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        EXPECT_THROW(sennit::fiber({.stack_size = std::size_t{2} << 30}, [] {}),
                     std::invalid_argument);
        int ran = 0;
        {
            sennit::nursery all;
            EXPECT_THROW(all.start({.stack_size = std::size_t{2} << 30}, [&] { ++ran; }),
                         std::invalid_argument);
            all.start([&] { ++ran; });
            all.join();
        }
        EXPECT_EQ(ran, 1);
    });
}

} // namespace
