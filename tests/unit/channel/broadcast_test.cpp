// SPDX-License-Identifier: Apache-2.0
// Tests broadcast and watch.
#include "race.hpp"

#include <sennit/broadcast.hpp>
#include <sennit/fiber.hpp>
#include <sennit/nursery.hpp>
#include <sennit/this_fiber.hpp>
#include <sennit/watch.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

class broadcast_on : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, broadcast_on, testing::Values(1u, 2u, 3u, 8u));
class watch_on : public broadcast_on {};
INSTANTIATE_TEST_SUITE_P(workers, watch_on, testing::Values(1u, 2u, 3u, 8u));

template <class F>
void until(F&& holds) {
    while (!holds()) sennit::this_fiber::yield();
}

TEST_P(broadcast_on, each_subscriber_sees_each_value_in_order) {
    runtime.run([] {
        sennit::broadcast<int> numbers(64);
        EXPECT_EQ(numbers.publish(-1), 0u) << "there is no subscriber yet";
        sennit::nursery readers;
        for (int k = 0; k < 4; ++k)
            readers.start([mine = numbers.subscribe()]() mutable {
                int next = 0;
                while (const auto one = mine.pop()) {
                    EXPECT_EQ(*one, next++);
                    EXPECT_EQ(one.missed(), 0u);
                }
                EXPECT_EQ(next, 50);
            });
        EXPECT_EQ(numbers.size(), 4u);
        for (int i = 0; i < 50; ++i) EXPECT_EQ(numbers.publish(i), 4u);
        numbers.close();
        EXPECT_TRUE(numbers.is_closed());
        EXPECT_EQ(numbers.publish(50), 0u);
        readers.join();
        EXPECT_EQ(numbers.size(), 0u);
    });
}

TEST_P(broadcast_on, slow_subscriber_learns_how_many_values_it_missed) {
    sennit::broadcast<std::string> texts(3);
    auto slow = texts.subscribe();
    sennit::broadcast<std::string>::item one;
    EXPECT_EQ(slow.try_pop(one), sennit::channel_status::empty);
    EXPECT_FALSE(one);
    for (int i = 0; i < 10; ++i) texts.publish(std::to_string(i));
    ASSERT_EQ(slow.try_pop(one), sennit::channel_status::success);
    EXPECT_EQ(*one, "7");
    EXPECT_EQ(one.missed(), 7u);
    one = slow.pop();
    EXPECT_EQ(one->front(), '8');
    EXPECT_EQ(one.missed(), 0u);
    texts.publish("10");
    texts.close();
    EXPECT_EQ(*slow.pop(), "9");
    EXPECT_EQ(*slow.pop(), "10");
    EXPECT_FALSE(slow.pop());
    EXPECT_EQ(slow.try_pop(one), sennit::channel_status::closed);
}

TEST_P(broadcast_on, values_are_shared_and_live_as_long_as_needed) {
    auto token = std::make_shared<int>(1);
    {
        sennit::broadcast<std::unique_ptr<std::shared_ptr<int>>> owners(1);
        auto one = owners.subscribe(), two = owners.subscribe();
        owners.publish(std::make_unique<std::shared_ptr<int>>(token));
        const auto a = one.pop(), b = two.pop();
        EXPECT_EQ(a->get(), b->get());
        EXPECT_EQ(token.use_count(), 2);
        owners.publish(nullptr);
        EXPECT_EQ(token.use_count(), 2) << "the items keep the value";
        EXPECT_EQ(***a.share(), 1);
    }
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(broadcast_on, waits_end_by_value_deadline_close_and_cancellation) {
    runtime.run([] {
        sennit::broadcast<int> numbers(2);
        auto mine = numbers.subscribe();
        sennit::broadcast<int>::item one;
        EXPECT_EQ(mine.pop_for(one, 1us), sennit::channel_status::timeout);
        EXPECT_EQ(mine.pop_for(one, -1s), sennit::channel_status::timeout);
        EXPECT_EQ(mine.pop_until(one, std::chrono::system_clock::now() + 1us),
                  sennit::channel_status::timeout);
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { (void)mine.pop(); }), sennit::timed_out);
        std::atomic<bool> waits{false};
        sennit::fiber reader([&] {
            waits = true;
            EXPECT_EQ(*mine.pop(), 5);
            EXPECT_FALSE(mine.pop());
        });
        until([&] { return waits.load(); });
        numbers.publish(5);
        numbers.close();
        reader.join();
    });
}

TEST_P(broadcast_on, subscribers_move) {
    sennit::broadcast<int> numbers(4);
    auto first = numbers.subscribe();
    numbers.publish(1);
    sennit::broadcast<int>::subscriber second = std::move(first), third;
    third = std::move(second);
    EXPECT_EQ(numbers.size(), 1u);
    EXPECT_EQ(*third.pop(), 1);
}

TEST_P(broadcast_on, race_of_publishers_and_subscribers_loses_nothing) {
    runtime.run([] {
        const int rounds = race_rounds / 10;
        sennit::broadcast<int> numbers(8);
        sennit::nursery readers, writers;
        for (int k = 0; k < 3; ++k)
            readers.start([&, mine = numbers.subscribe()]() mutable {
                std::uint64_t seen = 0;
                while (const auto one = mine.pop()) seen += 1 + one.missed();
                EXPECT_EQ(seen, static_cast<std::uint64_t>(2 * rounds));
            });
        for (int k = 0; k < 2; ++k)
            writers.start([&] {
                for (int i = 0; i < rounds; ++i) {
                    EXPECT_EQ(numbers.publish(i), 3u);
                    if (i % 5 == 0) sennit::this_fiber::yield();
                }
            });
        writers.join();
        numbers.close();
        readers.join();
    });
}

TEST(broadcast_misuse, misuse_ends_program) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(sennit::broadcast<int>(0), "SNT-082");
    EXPECT_DEATH(
        {
            sennit::broadcast<int>::subscriber left;
            sennit::broadcast<int> gone(1);
            left = gone.subscribe();
        },
        "SNT-083");
}

TEST_P(watch_on, watch_observer_sees_latest_value) {
    runtime.run([] {
        sennit::watch<std::string> state("start");
        EXPECT_EQ(*state.get(), "start");
        auto mine = state.observe();
        EXPECT_FALSE(mine.changed());
        EXPECT_EQ(*mine.get(), "start");
        state.set("a");
        state.set("b");
        EXPECT_TRUE(mine.changed());
        EXPECT_EQ(*mine.wait(), "b");
        EXPECT_FALSE(mine.changed());
        state.update([](const std::string& now) { return now + "c"; });
        EXPECT_EQ(*mine.get(), "bc");
        EXPECT_FALSE(mine.changed()) << "get counts as seen";
        EXPECT_THROW(
            state.update([](const std::string&) -> std::string { throw std::logic_error("x"); }),
            std::logic_error);
        EXPECT_EQ(*state.get(), "bc");
    });
}

TEST_P(watch_on, watch_waits_end_by_change_predicate_deadline_close_and_cancellation) {
    runtime.run([] {
        sennit::watch<int> level(0);
        auto mine = level.observe();
        sennit::watch<int>::pointer seen;
        EXPECT_EQ(mine.wait_for(seen, 1us), sennit::channel_status::timeout);
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { (void)mine.wait(); }), sennit::timed_out);
        std::atomic<bool> waits{false};
        sennit::fiber follower([&, other = level.observe()]() mutable {
            waits = true;
            const auto high = other.wait([](int n) { return n >= 3; });
            EXPECT_EQ(*high, 3);
            while (const auto more = other.wait()) EXPECT_GT(*more, 3);
            EXPECT_EQ(other.wait([](int n) { return n < 0; }), nullptr);
        });
        until([&] { return waits.load(); });
        level.set(1);
        level.set(2);
        level.set(3);
        EXPECT_EQ(*level.observe().wait([](int n) { return n == 3; }), 3) << "holds already";
        for (int i = 0; i < 100; ++i) sennit::this_fiber::yield();
        level.set(4);
        level.close();
        level.set(5);
        EXPECT_EQ(*level.get(), 4) << "a closed watch keeps its value";
        follower.join();
    });
}

TEST_P(watch_on, watch_updates_are_not_lost) {
    runtime.run([] {
        sennit::watch<int> count(0);
        sennit::nursery tasks;
        const int rounds = race_rounds / 20;
        for (int k = 0; k < 4; ++k)
            tasks.start([&] {
                for (int i = 0; i < rounds; ++i) {
                    count.update([](int n) { return n + 1; });
                    if (i % 7 == 0) sennit::this_fiber::yield();
                }
            });
        int last = 0;
        auto mine = count.observe();
        while (last < 4 * rounds) {
            const auto now = mine.wait([&](int n) { return n == 4 * rounds || n > last; });
            EXPECT_GT(*now, last);
            last = *now;
        }
        tasks.join();
    });
}

} // namespace
