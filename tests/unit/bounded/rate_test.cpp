// SPDX-License-Identifier: Apache-2.0
// Tests rate_limiter and ticker. The arithmetic is tested with times of the test's own.
#include "on_workers.hpp"

#include <sennit/channel.hpp>
#include <sennit/nursery.hpp>
#include <sennit/rate_limiter.hpp>
#include <sennit/select.hpp>
#include <sennit/ticker.hpp>
#include <sennit/with_timeout.hpp>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr std::int64_t second = 1'000'000'000;

TEST(token_bucket, is_full_at_first_and_holds_at_most_the_burst) {
    sennit::detail::token_bucket bucket({.per_second = 10, .burst = 3}, 100);
    EXPECT_TRUE(bucket.take(3, 100));
    EXPECT_FALSE(bucket.take(1, 100));
    EXPECT_EQ(bucket.ready_ns(1), 100 + second / 10);
    EXPECT_EQ(bucket.ready_ns(3), 100 + 3 * second / 10);
    EXPECT_FALSE(bucket.take(1, 100 + second / 10 - 1));
    EXPECT_TRUE(bucket.take(1, 100 + second / 10));
    EXPECT_FALSE(bucket.take(1, 100 + second / 10));
    EXPECT_TRUE(bucket.take(3, 100 + 1000 * second)) << "a long rest fills it";
    EXPECT_FALSE(bucket.take(1, 100 + 1000 * second)) << "but not above the burst";
}

TEST(token_bucket, tokens_are_there_at_the_time_that_it_names) {
    for (const double rate : {1.0 / 3, 7.0, 999.0, 1e6 / 7, 3e9}) {
        sennit::detail::token_bucket bucket({.per_second = rate, .burst = 5}, 0);
        std::int64_t now = 0;
        std::size_t taken = 0;
        for (int i = 0; i < 1000; ++i) {
            const std::size_t count = 1 + static_cast<std::size_t>(i) % 5;
            while (!bucket.take(count, now)) {
                const std::int64_t ready = bucket.ready_ns(count);
                ASSERT_GE(ready, now);
                // One nanosecond more if a sum of fractions is a little too small.
                now = ready > now ? ready : now + 1;
            }
            taken += count;
        }
        const double allowed = 5 + static_cast<double>(now) * 1e-9 * rate;
        EXPECT_LE(static_cast<double>(taken), allowed + 1e-3) << rate;
    }
}

TEST(token_bucket, clock_that_steps_back_adds_no_token) {
    sennit::detail::token_bucket bucket({.per_second = 1, .burst = 1}, 10 * second);
    EXPECT_TRUE(bucket.take(1, 10 * second));
    EXPECT_FALSE(bucket.take(1, 5 * second));
    EXPECT_FALSE(bucket.take(1, 10 * second));
    EXPECT_TRUE(bucket.take(1, 11 * second));
}

class rate_limiter : public on_workers {};
SENNIT_ON_WORKERS(rate_limiter);

TEST_P(rate_limiter, never_lets_more_through_than_burst_and_rate) {
    const auto body = [&] {
        const auto began = steady::now();
        sennit::rate_limiter limiter({.per_second = 20'000, .burst = 4});
        std::atomic<int> through{0};
        sennit::nursery tasks;
        for (int k = 0; k < 4; ++k)
            tasks.start({.runtime = &runtime}, [&] {
                for (int i = 0; i < 10; ++i) {
                    limiter.acquire();
                    ++through;
                }
            });
        tasks.join();
        EXPECT_EQ(through, 40);
        EXPECT_GE(steady::now() - began, 1800us) << "36 tokens came after the burst";
    };
    runtime.run(body);
    body();
}

TEST_P(rate_limiter, try_acquire_takes_tokens_that_are_there) {
    sennit::rate_limiter limiter({.per_second = 1e-6, .burst = 3});
    EXPECT_TRUE(limiter.try_acquire(2));
    EXPECT_FALSE(limiter.try_acquire(2));
    EXPECT_TRUE(limiter.try_acquire());
    EXPECT_FALSE(limiter.try_acquire());
    EXPECT_FALSE(limiter.try_acquire(100));
    EXPECT_TRUE(limiter.try_acquire(0));
    EXPECT_EQ(limiter.limit().burst, 3u);
}

// With one worker a fiber has blocked as soon as another one runs, so the order is known. (On a
// busy machine the watchdog would activate a second one.)
TEST(rate_limiter_order, waiters_are_served_in_order_of_arrival) {
    sennit::runtime one({.workers = 1, .max_spare_workers = 0});
    one.run([] {
        sennit::rate_limiter limiter({.per_second = 2000, .burst = 2});
        limiter.acquire(2);
        std::vector<int> order;
        sennit::nursery tasks;
        for (int i = 0; i < 5; ++i)
            tasks.start({.policy = sennit::launch::now}, [&, i] {
                limiter.acquire(i == 0 ? 2 : 1); // the large request is first
                order.push_back(i);
            });
        EXPECT_FALSE(limiter.try_acquire()) << "a task waits";
        tasks.join();
        EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
    });
}

TEST_P(rate_limiter, try_acquire_does_not_overtake_waiters) {
    runtime.run([] {
        sennit::rate_limiter limiter({.per_second = 1e-9, .burst = 2});
        limiter.acquire();
        std::atomic<bool> asks{false};
        sennit::nursery tasks;
        tasks.start([&] {
            asks = true;
            limiter.acquire(2); // one token is there
        });
        yield_until(asks);
        // False from the moment at which the task waits. Before, the token may be taken and lost.
        yield_until([&] { return !limiter.try_acquire(); });
        EXPECT_FALSE(limiter.try_acquire());
        tasks.cancel();
        tasks.join();
    });
}

TEST_P(rate_limiter, cancelled_waiter_takes_nothing_and_next_moves_up) {
    runtime.run([] {
        sennit::rate_limiter limiter({.per_second = 1e-9, .burst = 2}); // no token in 30 years
        limiter.acquire();
        std::atomic<int> waiting{0};
        sennit::nursery never;
        for (int i = 0; i < 3; ++i)
            never.start([&] {
                ++waiting;
                limiter.acquire(2);
                ADD_FAILURE();
            });
        yield_until([&] { return waiting == 3; });
        let_others_run();
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { limiter.acquire(2); }), sennit::timed_out);
        never.cancel();
        never.join();
        limiter.acquire(); // the token that was left
        EXPECT_FALSE(limiter.try_acquire());
    });
}

TEST_P(rate_limiter, options_out_of_range_are_refused) {
    const auto refused = [](sennit::rate_limit limit) {
        EXPECT_THROW(sennit::rate_limiter{limit}, std::invalid_argument);
    };
    refused({.per_second = 0});
    refused({.per_second = -1});
    refused({.per_second = std::numeric_limits<double>::quiet_NaN()});
    refused({.per_second = std::numeric_limits<double>::infinity()});
    refused({.per_second = 1, .burst = 0});
    sennit::rate_limiter limiter({.per_second = 1, .burst = 2});
    EXPECT_THROW(limiter.acquire(3), std::invalid_argument);
    EXPECT_NO_THROW(limiter.acquire(2));
}

// The table of tokio's MissedTickBehavior: a period of 10, and the caller is busy until 47.
TEST(tick_schedule, missed_ticks_follow_policy) {
    const auto ticks = [](sennit::missed_ticks missed) {
        sennit::detail::tick_schedule schedule{20, 10, missed};
        schedule.advance(20);
        std::vector<std::int64_t> times;
        for (std::int64_t now = 47; times.size() < 4;) {
            now = std::max(now, schedule.next_ns);
            times.push_back(now);
            schedule.advance(now);
        }
        return times;
    };
    using list = std::vector<std::int64_t>;
    EXPECT_EQ(ticks(sennit::missed_ticks::burst), (list{47, 47, 50, 60}));
    EXPECT_EQ(ticks(sennit::missed_ticks::delay), (list{47, 57, 67, 77}));
    EXPECT_EQ(ticks(sennit::missed_ticks::skip), (list{47, 50, 60, 70}));
}

TEST(tick_schedule, skip_takes_late_tick_within_the_period_once) {
    sennit::detail::tick_schedule schedule{100, 10, sennit::missed_ticks::skip};
    schedule.advance(109);
    EXPECT_EQ(schedule.next_ns, 110);
    schedule.advance(110);
    EXPECT_EQ(schedule.next_ns, 120);
    schedule.advance(130); // exactly at a later tick, which is then due at once
    EXPECT_EQ(schedule.next_ns, 140);
}

class ticker : public on_workers {};
SENNIT_ON_WORKERS(ticker);

TEST_P(ticker, ticks_at_multiples_and_never_early) {
    const auto body = [] {
        const auto first = steady::now() + 1ms;
        sennit::ticker every(200us, first);
        for (int i = 0; i < 5; ++i) {
            const auto due = every.tick();
            EXPECT_EQ(due, first + i * 200us);
            EXPECT_GE(steady::now(), due);
        }
        EXPECT_EQ(every.period(), 200us);
        sennit::ticker at_once(1h);
        const auto due = at_once.tick();
        EXPECT_LE(due, steady::now());
        EXPECT_EQ(at_once.next(), due + 1h);
        at_once.reset();
        EXPECT_GT(at_once.next(), steady::now());
    };
    runtime.run(body);
    body();
}

TEST_P(ticker, cancelled_tick_stays_due) {
    runtime.run([] {
        sennit::ticker every(1h);
        (void)every.tick();
        const auto next = every.next();
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { (void)every.tick(); }), sennit::timed_out);
        EXPECT_EQ(every.next(), next);
    });
}

TEST_P(ticker, is_case_of_select) {
    runtime.run([] {
        sennit::channel<int> quiet;
        sennit::ticker every(100us);
        int ticks = 0;
        while (ticks < 3)
            sennit::select(sennit::on_pop(quiet, [](int) { ADD_FAILURE(); }),
                           sennit::at(every.next(), [&] {
                               (void)every.tick();
                               ++ticks;
                           }));
        EXPECT_EQ(ticks, 3);
    });
}

TEST_P(ticker, period_that_is_not_positive_is_refused) {
    EXPECT_THROW(sennit::ticker(0s), std::invalid_argument);
    EXPECT_THROW(sennit::ticker(-1s), std::invalid_argument);
}

} // namespace
