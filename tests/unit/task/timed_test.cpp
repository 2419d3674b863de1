// SPDX-License-Identifier: Apache-2.0
// The awaits with a limit of their own: channels, events, semaphores and condition variables.
#include "support.hpp"

#include <sennit/cancelled.hpp>
#include <sennit/channel.hpp>
#include <sennit/condition_variable.hpp>
#include <sennit/event.hpp>
#include <sennit/semaphore.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace {

using namespace std::chrono_literals;
using sennit::block_on;
using sennit::channel_status;
using sennit::task;

class timed_awaits : public with_workers {};
SENNIT_FOR_WORKERS(timed_awaits);

TEST_P(timed_awaits, channel_reports_success_timeout_and_close) {
    const auto body = []() -> task<> {
        sennit::channel<std::unique_ptr<int>> values(1);
        std::optional<std::unique_ptr<int>> got;
        EXPECT_EQ(co_await values.async_pop_for(got, 1ms), channel_status::timeout);
        EXPECT_EQ(co_await values.async_pop_for(got, -1ms), channel_status::timeout);
        auto one = std::make_unique<int>(1);
        EXPECT_EQ(co_await values.async_push_for(std::move(one), 1h), channel_status::success);
        auto two = std::make_unique<int>(2);
        const auto soon = std::chrono::steady_clock::now() + 1ms;
        EXPECT_EQ(co_await values.async_push_until(std::move(two), soon), channel_status::timeout);
        EXPECT_EQ(co_await values.async_pop_until(got, soon), channel_status::success);
        EXPECT_EQ(**got, 1);
        values.close();
        EXPECT_EQ(co_await values.async_pop_for(got, 1h), channel_status::closed);
        EXPECT_FALSE(got);
        auto three = std::make_unique<int>(3);
        EXPECT_EQ(co_await values.async_push_for(std::move(three), 1h), channel_status::closed);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(timed_awaits, waiting_pop_and_push_meet_before_their_limits) {
    const auto body = []() -> task<> {
        sennit::channel<int> values;
        const auto pop = [&]() -> task<int> {
            std::optional<int> got;
            const channel_status how = co_await values.async_pop_for(got, 1h);
            EXPECT_EQ(how, channel_status::success);
            co_return got.value_or(-1);
        };
        const auto push = [&]() -> task<channel_status> {
            const channel_status how = co_await values.async_push_for(7, 1h);
            co_return how;
        };
        for (int i = 0; i < 50; ++i) {
            const auto [first, how] = co_await sennit::async_all(pop(), push());
            EXPECT_EQ(first, 7);
            EXPECT_EQ(how, channel_status::success);
        }
    };
    runtime.run([&] { block_on(body()); });
}

// A limit that races with the push: the value is with the task or in the channel, never lost.
TEST_P(timed_awaits, limit_that_races_with_push_loses_no_value) {
    const auto body = []() -> task<> {
        for (int i = 0; i < 200; ++i) {
            sennit::channel<int> values(1);
            std::optional<int> got;
            const auto pop = [&]() -> task<channel_status> {
                const auto limit = std::chrono::microseconds(i % 20);
                const channel_status how = co_await values.async_pop_for(got, limit);
                co_return how;
            };
            const auto push = [&]() -> task<> { co_await values.async_push(i); };
            const auto [how, none] = co_await sennit::async_all(pop(), push());
            if (how == channel_status::success) {
                EXPECT_EQ(got, i);
                EXPECT_EQ(values.size(), 0u);
            } else {
                EXPECT_EQ(how, channel_status::timeout);
                EXPECT_EQ(values.size(), 1u);
            }
        }
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(timed_awaits, event_and_semaphore_tell_whether_they_came_in_time) {
    const auto body = []() -> task<> {
        sennit::event never, now(sennit::event::mode::manual_reset, true);
        EXPECT_FALSE(co_await never.async_wait_for(1ms));
        EXPECT_TRUE(co_await now.async_wait_for(1ms));
        EXPECT_FALSE(co_await never.async_wait_until(std::chrono::steady_clock::now()));
        sennit::counting_semaphore<> tokens(1);
        EXPECT_TRUE(co_await tokens.async_try_acquire_for(1h));
        EXPECT_FALSE(co_await tokens.async_try_acquire_for(1ms));
        const auto later = std::chrono::steady_clock::now() + 1h;
        const auto release = [&]() -> task<> {
            tokens.release();
            co_return;
        };
        const auto acquire = [&]() -> task<bool> {
            const bool in_time = co_await tokens.async_try_acquire_until(later);
            co_return in_time;
        };
        const auto [in_time, none] = co_await sennit::async_all(acquire(), release());
        EXPECT_TRUE(in_time);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(timed_awaits, condition_variable_reports_timeout_with_the_lock_held) {
    const auto body = []() -> task<> {
        sennit::mutex guard;
        sennit::condition_variable changed;
        bool ready = false;
        std::unique_lock<sennit::mutex> lock = co_await guard.async_scoped_lock();
        const sennit::cv_status ended = co_await changed.async_wait_for(lock, 1ms);
        EXPECT_EQ(ended, sennit::cv_status::timeout);
        EXPECT_TRUE(lock.owns_lock());
        const bool before = co_await changed.async_wait_for(lock, 1ms, [&] { return ready; });
        EXPECT_FALSE(before);
        lock.unlock();
        const auto notify = [&]() -> task<> {
            std::unique_lock<sennit::mutex> mine = co_await guard.async_scoped_lock();
            ready = true;
            changed.notify_one();
        };
        const auto wait = [&]() -> task<bool> {
            std::unique_lock<sennit::mutex> mine = co_await guard.async_scoped_lock();
            const bool seen = co_await changed.async_wait_for(mine, 1h, [&] { return ready; });
            co_return seen;
        };
        const auto [seen, none] = co_await sennit::async_all(wait(), notify());
        EXPECT_TRUE(seen);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(timed_awaits, cancelled_scope_precedes_a_later_limit) {
    const auto body = []() -> task<> {
        sennit::event never;
        bool cut = false;
        const auto wait = [&]() -> task<> {
            try {
                (void)co_await never.async_wait_for(1h);
            } catch (const sennit::cancelled&) {
                cut = true;
                throw;
            }
        };
        const auto end = []() -> task<> { co_await sennit::async_yield(); };
        const auto first = co_await sennit::async_any(wait(), end());
        EXPECT_EQ(first.index(), 1u);
        EXPECT_TRUE(cut);
    };
    runtime.run([&] { block_on(body()); });
}

} // namespace
