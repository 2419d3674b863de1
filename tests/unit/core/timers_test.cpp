// SPDX-License-Identifier: Apache-2.0
// Tests a runtime's timers, which any thread may arm, disarm and expire.
#include "core/idle/timers.hpp"

#include "core/runtime/runtime_core.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/sennit.hpp"
#include "sennit/this_fiber.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace {

using sennit::sched::arm;
using sennit::sched::disarm;
using sennit::sched::now_ns;
using sennit::sched::timer;
using sennit::sched::timers;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t wheel_tick = sennit::sched::timer_wheel::tick_ns;

struct bell : timer {
    explicit bell(std::int64_t deadline = 0) {
        deadline_ns = deadline;
        expire = [](timer& self) noexcept -> sennit::sched::waiter* {
            auto& me = static_cast<bell&>(self);
            me.rang_at = now_ns();
            me.rings.fetch_add(1);
            return nullptr;
        };
    }
    bool wait(std::int64_t at_most = 10'000 * ms) const {
        for (const std::int64_t start = now_ns(); rings == 0;) {
            if (now_ns() - start > at_most) return false;
            std::this_thread::yield();
        }
        return true;
    }
    std::atomic<std::int64_t> rang_at{0};
    std::atomic<int> rings{0};
};

TEST(timers, next_ns_returns_earliest_deadline) {
    timers clock;
    EXPECT_EQ(clock.next_ns(), sennit::sched::never);
    const std::int64_t now = now_ns();
    bell late(now + 1000 * ms), early(now + 10 * ms);
    (void)clock.arm(late);
    EXPECT_LE(clock.next_ns(), late.deadline_ns + wheel_tick);
    (void)clock.arm(early);
    EXPECT_LE(clock.next_ns(), early.deadline_ns + wheel_tick);
    EXPECT_TRUE(clock.disarm(early));
    EXPECT_FALSE(clock.disarm(early));
    EXPECT_TRUE(clock.disarm(late));
    EXPECT_EQ(clock.next_ns(), sennit::sched::never);
}

// The test sets the clock itself, because the time at which the wheel moves far timers depends on
// the clock's value.
TEST(timers, arm_returns_leader_that_would_sleep_too_long) {
    const std::int64_t now = 0;
    timers clock(now);
    ASSERT_TRUE(clock.try_become_leader(3));
    EXPECT_FALSE(clock.try_become_leader(4)) << "there is a leader already";
    bell late(now + 1000 * ms), later(now + 2000 * ms), early(now + 10 * ms);
    EXPECT_EQ(clock.arm(late), 3u);
    EXPECT_NE(clock.arm(later), 3u) << "the leader wakes early enough anyway";
    EXPECT_EQ(clock.arm(early), 3u);
    clock.release_lead();
    EXPECT_TRUE(clock.try_become_leader(4));
    for (bell* one : {&late, &later, &early}) EXPECT_TRUE(clock.disarm(*one));
}

TEST(timers, only_due_timers_expire) {
    timers clock;
    const std::int64_t now = now_ns();
    std::vector<std::unique_ptr<bell>> due;
    for (int i = 0; i < 200; ++i) { // More timers than one critical section expires.
        due.push_back(std::make_unique<bell>(now + i));
        (void)clock.arm(*due.back());
    }
    bell late(now + 1000 * ms);
    (void)clock.arm(late);
    clock.expire(now + ms);
    for (const auto& one : due) EXPECT_EQ(one->rings, 1);
    EXPECT_EQ(late.rings, 0);
    EXPECT_GT(clock.next_ns(), now + ms);
    EXPECT_FALSE(clock.disarm(*due[0]));
    EXPECT_TRUE(clock.disarm(late));
}

// `fire` runs outside the lock, so it may arm its timer again.
TEST(timers, timer_fires_outside_lock_unless_disarmed) {
    struct gun : timer {
        explicit gun(timers& clock_of_it, std::int64_t deadline) : clock(clock_of_it) {
            deadline_ns = deadline;
            fire = [](timer& self) noexcept {
                auto& me = static_cast<gun&>(self);
                if (++me.shots < 3) (void)me.clock.arm(me);
            };
        }
        timers& clock;
        int shots = 0;
    };
    timers clock;
    const std::int64_t now = now_ns();
    gun one(clock, now), other(clock, now);
    (void)clock.arm(one);
    (void)clock.arm(other);
    EXPECT_TRUE(clock.disarm(other));
    for (int i = 1; i <= 4; ++i) clock.expire(now + ms);
    EXPECT_EQ(one.shots, 3);
    EXPECT_EQ(other.shots, 0);
    EXPECT_EQ(clock.next_ns(), sennit::sched::never);
}

TEST(timers, timer_expires_on_idle_runtime) {
    sennit::runtime runtime({.workers = 2});
    bell one(now_ns() + 5 * ms);
    arm(one, runtime.core());
    ASSERT_TRUE(one.wait());
    EXPECT_GE(one.rang_at, one.deadline_ns) << "no timer expires early";
    EXPECT_EQ(one.rings, 1);
    EXPECT_FALSE(disarm(one, runtime.core()));
}

TEST(timers, timer_expires_before_timers_armed_earlier) {
    sennit::runtime runtime({.workers = 2});
    bell late(now_ns() + 3600'000 * ms);
    arm(late, runtime.core());
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // The leader sleeps until then.
    bell early(now_ns() + 2 * ms);
    arm(early, runtime.core());
    EXPECT_TRUE(early.wait());
    EXPECT_TRUE(disarm(late, runtime.core()));
    EXPECT_EQ(late.rings, 0);
}

// The timer leader is woken for work before a timer is armed. That work arms a timer and does not
// return to the worker's loop.
TEST(timers, timer_expires_while_arming_worker_is_busy) {
    sennit::runtime runtime({.workers = 2});
    for (int round = 0; round < 20; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // Both workers sleep.
        runtime.run([&] {
            bell one(now_ns() + ms);
            arm(one, runtime.core());
            EXPECT_TRUE(one.wait(2000 * ms)) << "an idle worker expires the timer";
            disarm(one, runtime.core());
        });
    }
}

TEST(timers, timer_wakes_sleeping_fiber) {
    sennit::runtime runtime({.workers = 2});
    runtime.run([&] {
        const std::int64_t start = now_ns();
        sennit::this_fiber::sleep_for(std::chrono::milliseconds(3));
        EXPECT_GE(now_ns() - start, 3 * ms);
    });
}

// A timer that is disarmed in time does not expire, and any other timer expires once. Both sides
// race.
TEST(timers, timer_either_expires_or_is_disarmed) {
    sennit::runtime runtime({.workers = 2});
    std::atomic<int> in_time{0}, rung{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            std::mt19937 random(t);
            for (int i = 0; i < 500; ++i) {
                bell one(now_ns() + static_cast<std::int64_t>(random() % 200'000));
                arm(one, runtime.core());
                for (const std::int64_t until =
                         now_ns() + static_cast<std::int64_t>(random() % 200'000);
                     now_ns() < until;)
                    std::this_thread::yield();
                const bool stopped = disarm(one, runtime.core());
                ASSERT_EQ(one.rings, stopped ? 0 : 1);
                (stopped ? in_time : rung).fetch_add(1);
            }
        });
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(in_time + rung, 1500);
    EXPECT_EQ(runtime.core().timers().next_ns(), sennit::sched::never);
}

} // namespace
