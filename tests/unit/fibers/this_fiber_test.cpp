// SPDX-License-Identifier: Apache-2.0
// Tests namespace this_fiber: yield, id, name, stop token, checkpoint, sleep.
#include "on_workers.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/fork_each.hpp>
#include <sennit/mutex.hpp>
#include <sennit/nursery.hpp>
#include <sennit/with_timeout.hpp>

#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

class this_fiber : public on_workers {};
SENNIT_ON_WORKERS(this_fiber);

TEST_P(this_fiber, yield_lets_ready_fibers_run) {
    runtime.run([] {
        constexpr int count = 8;
        std::atomic<int> turn{0};
        std::vector<sennit::fiber> ring;
        for (int i = 0; i < count; ++i)
            ring.emplace_back([&, i] {
                for (int round = 0; round < 20; ++round) {
                    yield_until([&] { return turn.load() % count == i; });
                    ++turn;
                }
            });
        for (auto& one : ring) one.join();
        EXPECT_EQ(turn, 20 * count);
    });
}

TEST_P(this_fiber, yield_works_in_forked_children_and_plain_threads) {
    std::atomic<bool> go{false};
    std::thread outside([&] { yield_until(go); });
    runtime.run([&] {
        sennit::fork_each(4, [&](std::size_t i) {
            if (i == 3)
                go = true;
            else
                yield_until(go);
        });
    });
    outside.join();
    EXPECT_TRUE(go);
}

TEST_P(this_fiber, fiber_keeps_id_and_locks_on_every_worker) {
    runtime.run([] {
        std::set<sennit::fiber::id> seen;
        sennit::mutex guard;
        std::vector<sennit::fiber> all;
        for (int i = 0; i < 16; ++i)
            all.emplace_back([&] {
                sennit::mutex own;
                const auto id = sennit::this_fiber::get_id();
                own.lock();
                for (int k = 0; k < 200; ++k) {
                    sennit::this_fiber::yield();
                    EXPECT_EQ(sennit::this_fiber::get_id(), id);
                }
                sennit::this_fiber::sleep_for(1ms);
                own.unlock();
                std::lock_guard hold(guard);
                seen.insert(id);
            });
        all.clear();
        EXPECT_EQ(seen.size(), 16u);
    });
}

TEST_P(this_fiber, thread_has_constant_and_unique_id) {
    const auto mine = sennit::this_fiber::get_id();
    sennit::fiber::id other;
    std::thread([&] {
        other = sennit::this_fiber::get_id();
        EXPECT_EQ(sennit::this_fiber::get_id(), other);
    }).join();
    EXPECT_EQ(sennit::this_fiber::get_id(), mine);
    EXPECT_NE(other, mine);
    const auto inside = runtime.run([] { return sennit::this_fiber::get_id(); });
    EXPECT_NE(inside, mine);
    EXPECT_NE(runtime.run([] { return sennit::this_fiber::get_id(); }), inside)
        << "each body of `run` has its own id";
}

TEST_P(this_fiber, only_named_fiber_has_name) {
    EXPECT_EQ(sennit::this_fiber::name(), "");
    runtime.run([] {
        EXPECT_EQ(sennit::this_fiber::name(), "");
        sennit::fiber([] { EXPECT_EQ(sennit::this_fiber::name(), ""); }).join();
        sennit::fiber outer({.name = "outer"}, [] {
            sennit::fiber({.name = "inner"}, [] {
                EXPECT_EQ(sennit::this_fiber::name(), "inner");
            }).join();
            EXPECT_EQ(sennit::this_fiber::name(), "outer");
        });
        outer.join();
        sennit::nursery children;
        children.start({.name = "child"}, [] { EXPECT_EQ(sennit::this_fiber::name(), "child"); });
        children.join();
    });
}

TEST_P(this_fiber, stop_token_belongs_to_one_fiber) {
    EXPECT_FALSE(sennit::this_fiber::get_stop_token().stop_requested());
    runtime.run([] {
        EXPECT_FALSE(sennit::this_fiber::get_stop_token().stop_requested());
        sennit::event asked;
        sennit::fiber one([&] {
            const std::stop_token mine = sennit::this_fiber::get_stop_token();
            EXPECT_TRUE(mine.stop_possible());
            EXPECT_FALSE(sennit::fiber([] {
                             return sennit::this_fiber::get_stop_token().stop_requested();
                         }).join<bool>());
            asked.wait();
            EXPECT_TRUE(mine.stop_requested());
            EXPECT_EQ(sennit::this_fiber::get_stop_token(), mine);
        });
        one.request_stop();
        asked.set();
        one.join();
    });
}

// The nursery asks its child to stop.
TEST_P(this_fiber, stop_token_of_nursery_child_reports_cancellation) {
    runtime.run([] {
        std::atomic<bool> began{false}, told{false};
        sennit::nursery children;
        children.start([&] {
            const std::stop_token mine = sennit::this_fiber::get_stop_token();
            began = true;
            try {
                sennit::this_fiber::sleep_for(1h);
            } catch (const sennit::cancelled&) {
                told =
                    mine.stop_requested() || sennit::this_fiber::get_stop_token().stop_requested();
                throw;
            }
        });
        yield_until(began);
        children.cancel();
        children.join();
        EXPECT_TRUE(told);
    });
}

TEST_P(this_fiber, checkpoint_throws_only_in_cancelled_scope) {
    sennit::this_fiber::checkpoint();
    runtime.run([] {
        sennit::this_fiber::checkpoint();
        sennit::fiber([] { sennit::this_fiber::checkpoint(); }).join();
        std::atomic<bool> began{false}, ended{false};
        sennit::nursery children;
        children.start([&] {
            sennit::this_fiber::checkpoint();
            began = true;
            try {
                for (;;) sennit::this_fiber::checkpoint(), sennit::this_fiber::yield();
            } catch (const sennit::cancelled&) {
                ended = true;
                throw;
            }
        });
        yield_until(began);
        children.cancel();
        children.join();
        EXPECT_TRUE(ended);
        sennit::this_fiber::checkpoint(); // The parent is not cancelled.
    });
    EXPECT_THROW(sennit::with_timeout(1ms,
                                      [] {
                                          for (;;) sennit::this_fiber::checkpoint();
                                      }),
                 sennit::timed_out);
}

TEST_P(this_fiber, sleep_is_never_too_short) {
    const auto body = [] {
        for (const auto length : {0us, 1us, 100us, 3000us}) {
            const auto began = steady::now();
            sennit::this_fiber::sleep_for(length);
            EXPECT_GE(steady::now() - began, length);
            const auto until = steady::now() + length;
            sennit::this_fiber::sleep_until(until);
            EXPECT_GE(steady::now(), until);
            const auto wall = std::chrono::system_clock::now() + length;
            sennit::this_fiber::sleep_until(wall);
            EXPECT_GE(std::chrono::system_clock::now(), wall);
        }
        sennit::this_fiber::sleep_for(-1h);
        sennit::this_fiber::sleep_for(std::chrono::duration<double>(-1.5));
        sennit::this_fiber::sleep_until(steady::now() - 1h);
        sennit::this_fiber::sleep_until(steady::time_point::min());
    };
    body();
    runtime.run([&] {
        body();
        sennit::fiber(body).join();
        sennit::fork_each(3, [&](std::size_t) { body(); });
    });
}

// A sleeper that kept the worker would wait forever for the other fibers.
TEST_P(this_fiber, sleeping_fiber_leaves_its_worker) {
    runtime.run([] {
        std::atomic<int> others{0};
        sennit::fiber sleeper([&] {
            while (others.load() < 10) sennit::this_fiber::sleep_for(1ms);
        });
        std::vector<sennit::fiber> all;
        for (int i = 0; i < 10; ++i) all.emplace_back([&] { ++others; });
        for (auto& one : all) one.join();
        sleeper.join();
    });
}

TEST_P(this_fiber, thousands_of_sleepers_wake) {
    runtime.run([] {
        std::vector<sennit::fiber> all;
        for (int i = 0; i < 3000; ++i)
            all.emplace_back([i] {
                const auto until = steady::now() + std::chrono::microseconds(i * 7919 % 10'000);
                sennit::this_fiber::sleep_until(until);
                return steady::now() >= until;
            });
        for (auto& one : all) EXPECT_TRUE(one.join<bool>());
    });
}

} // namespace
