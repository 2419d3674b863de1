// SPDX-License-Identifier: Apache-2.0
// Tests a runtime whose tasks communicate: what is gathered and spread again is neither lost nor
// run twice. Whether a runtime gathers depends on time, except in builds that provoke rare
// interleavings: there each second trial is kept.
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/actor.hpp"
#include "sennit/channel.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/fiber.hpp"
#include "sennit/latch.hpp"
#include "sennit/runtime.hpp"
#include "sennit/this_fiber.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace {

constexpr int pairs = 12, rounds = 400;

// Pairs of fibers that send a number to and fro. Returns the sum of what arrived.
std::int64_t talk(sennit::runtime& runtime) {
    return runtime.run([] {
        std::array<std::int64_t, pairs> sums{};
        std::vector<sennit::fiber> all;
        std::vector<std::unique_ptr<sennit::channel<int>>> ways;
        for (int i = 0; i < 2 * pairs; ++i)
            ways.push_back(std::make_unique<sennit::channel<int>>(i % 3));
        for (std::size_t i = 0; i < pairs; ++i) {
            sennit::channel<int>& there = *ways[2 * i];
            sennit::channel<int>& back = *ways[2 * i + 1];
            all.emplace_back([&there, &back] {
                while (auto n = there.pop()) back.push(*n);
                back.close();
            });
            all.emplace_back([&there, &back, &sum = sums[i]] {
                for (int n = 0; n < rounds; ++n) {
                    there.push(n);
                    sum += *back.pop();
                }
                there.close();
            });
        }
        for (auto& one : all) one.join();
        std::int64_t whole = 0;
        for (std::int64_t sum : sums) whole += sum;
        return whole;
    });
}
constexpr std::int64_t all_sent = std::int64_t{pairs} * rounds * (rounds - 1) / 2;

struct hop {
    int left;
};
class dancer : public sennit::actor<dancer, hop> {
public:
    explicit dancer(std::vector<sennit::actor_ref<dancer>>& all, sennit::latch& done)
        : all_(all), done_(done) {}
    void on(hop m) {
        if (m.left == 0) return done_.count_down();
        random_ = random_ * 1'103'515'245 + 12'345;
        all_[(random_ >> 16) % all_.size()].tell(hop{m.left - 1});
    }

private:
    std::vector<sennit::actor_ref<dancer>>& all_;
    sennit::latch& done_;
    std::uint32_t random_ = 1;
};

// Actors that send to each other at random. Returns when all tokens have made their hops.
void dance(sennit::runtime& runtime) {
    runtime.run([&] {
        constexpr int actors = 30, tokens = 20;
        sennit::latch done(tokens);
        std::vector<sennit::actor_ref<dancer>> all;
        sennit::actor_group group;
        for (int i = 0; i < actors; ++i) all.push_back(group.spawn<dancer>(all, done));
        for (int i = 0; i < tokens; ++i) all[static_cast<std::size_t>(i)].tell(hop{300});
        done.wait();
    });
}

TEST(consolidation, communicating_fibers_and_actors_lose_nothing) {
    sennit::runtime runtime({.workers = 4});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(talk(runtime), all_sent);
        dance(runtime);
    }
}

#ifdef SENNIT_STRESS
TEST(consolidation, communicating_tasks_are_gathered_and_spread_again) {
    sennit::runtime runtime({.workers = 4});
    while (runtime.metrics().consolidations < 20) {
        EXPECT_EQ(talk(runtime), all_sent);
        dance(runtime);
    }
}
#endif

// The test hangs if the worker does not count the locks, or no trial begins.
TEST(consolidation, locks_that_were_found_taken_begin_a_trial) {
    sennit::runtime runtime({.workers = 2, .max_spare_workers = 0});
    runtime.run([] {
        std::atomic<bool> gathers{false};
        const auto fights = [&] {
            while (!gathers) {
                for (int i = 0; i < 16; ++i) sennit::base::note_contended_lock();
                sennit::this_fiber::yield();
                const sennit::sched::worker& here = *sennit::sched::this_worker();
                if (here.is_host()) gathers = true;
            }
        };
        sennit::fiber one(fights), two(fights);
    });
}

TEST(spin_lock, thread_counts_locks_that_it_found_taken) {
    sennit::base::spin_lock lock;
    std::uint32_t found = 0;
    while (found == 0) { // The thread may come after the lock is free.
        std::atomic<bool> comes{false};
        lock.lock();
        std::thread other([&] {
            comes = true;
            lock.lock();
            lock.unlock();
            found = sennit::base::contended_locks();
        });
        while (!comes) std::this_thread::yield();
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
        lock.unlock();
        other.join();
    }
    EXPECT_EQ(found, 1u);
}

TEST(consolidation, runtime_that_must_not_gather_does_not) {
    sennit::runtime runtime({.workers = 4, .consolidate = false});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(talk(runtime), all_sent);
        dance(runtime);
    }
    EXPECT_EQ(runtime.metrics().consolidations, 0u);
}

} // namespace
