// SPDX-License-Identifier: Apache-2.0
// Scenarios for properties that Go's tests of channels and of select check, and that no other file
// of this folder checks. A select sees all its channels at one moment, leaves all their waiter
// lists intact, and prefers none of its cases.
#include "race.hpp"

#include <sennit/fiber.hpp>
#include <sennit/select.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

using sennit::channel_status;
using sennit::base::random;
using numbers = sennit::channel<int>;

constexpr auto ignored = [](auto&&...) {};
constexpr auto unexpected = [](auto&&...) { ADD_FAILURE(); };

class after_go : public race {};
INSTANTIATE_TEST_SUITE_P(all, after_go, testing::ValuesIn(race_settings), name_of_race);

// The channel holds a value until it is closed, so it is ready for a pop at every moment.
TEST_P(after_go, pop_without_wait_finds_value_or_end) {
    for (int round = 0; round < rounds / 4; ++round) {
        numbers one(1);
        (void)one.push(1);
        start([&, by_select = round % 2 == 0] {
            int got = 0;
            if (by_select) {
                sennit::select(sennit::on_pop(one, ignored), sennit::otherwise(unexpected));
            } else {
                EXPECT_NE(one.try_pop(got), channel_status::empty);
            }
        });
        one.close();
        (void)one.pop();
        join();
    }
}

// At every moment one of the two channels is ready: the second becomes ready before the first is
// emptied.
TEST_P(after_go, select_without_wait_sees_both_channels_at_one_moment) {
    for (int round = 0; round < rounds / 4; ++round) {
        numbers first(1), second(1);
        (void)first.push(1);
        start([&, turned = round % 4 < 2] {
            numbers &a = turned ? second : first, &b = turned ? first : second;
            sennit::select(sennit::on_pop(a, ignored), sennit::on_pop(b, ignored),
                           sennit::otherwise(unexpected));
        });
        if (round % 2 == 0)
            (void)second.push(1);
        else
            second.close();
        sennit::select(sennit::on_pop(first, ignored), sennit::otherwise(ignored));
        join();
    }
}

// A select that may push a value into any of four channels delivers it through exactly one of them.
TEST_P(after_go, select_sends_value_through_one_of_four_channels) {
    constexpr int count = 2000;
    std::array<numbers, 4> ways{numbers(0), numbers(0), numbers(1), numbers(2)};
    std::vector<std::atomic<int>> times(count);
    start([&] {
        for (int i = 0; i < count; ++i)
            sennit::select(
                sennit::on_push(ways[0], i, ignored), sennit::on_push(ways[1], i, ignored),
                sennit::on_push(ways[2], i, ignored), sennit::on_push(ways[3], i, ignored));
        for (numbers& one : ways) one.close();
    });
    for (numbers& one : ways)
        start([&] {
            int last = -1;
            for (const int value : one) {
                EXPECT_LT(last, value);
                last = value;
                ++times.at(static_cast<std::size_t>(value));
            }
        });
    join();
    for (int i = 0; i < count; ++i) EXPECT_EQ(times[static_cast<std::size_t>(i)], 1) << i;
}

// Each of four channels has its own sender and receiver. One more sender and one more receiver
// select among all four.
TEST_P(after_go, selects_and_plain_calls_share_four_channels) {
    constexpr int each = 500;
    std::array<numbers, 4> all{numbers(0), numbers(0), numbers(2), numbers(3)};
    std::atomic<int> sent{0}, got{0};
    for (numbers& one : all) {
        start([&] {
            for (int i = 0; i < each; ++i) sent += one.push(1) == channel_status::success;
        });
        start([&] {
            for (int i = 0; i < each; ++i) got += one.pop().value();
        });
    }
    const auto through_all = [&](auto&& make_case) {
        std::array<int, 4> left{each, each, each, each};
        const auto open = [&](std::size_t i) {
            return sennit::when(left[i] > 0, make_case(all[i]));
        };
        for (int i = 0; i < 4 * each; ++i)
            --left[sennit::select(open(0), open(1), open(2), open(3))];
    };
    start([&] {
        through_all([&](numbers& one) { return sennit::on_push(one, 1, [&] { ++sent; }); });
    });
    start([&] {
        through_all(
            [&](numbers& one) { return sennit::on_pop(one, [&](int value) { got += value; }); });
    });
    join();
    EXPECT_EQ(sent, 8 * each);
    EXPECT_EQ(got, 8 * each);
}

// With one worker, every fiber waits in its channels once let_others_run() has returned.
class after_go_in_turn : public testing::Test {
protected:
    sennit::runtime runtime{{.workers = 1}};
    static void let_others_run() {
        for (int i = 0; i < 100; ++i) sennit::this_fiber::yield();
    }
};

TEST_F(after_go_in_turn, select_that_waits_twice_on_a_channel_leaves_it_twice) {
    runtime.run([] {
        numbers twice, other;
        bool ended = false;
        sennit::fiber selects([&] {
            EXPECT_EQ(sennit::select(sennit::on_pop(twice, unexpected),
                                     sennit::on_pop(twice, unexpected),
                                     sennit::on_pop(other, ignored)),
                      2u);
            ended = true;
        });
        let_others_run();
        sennit::fiber behind([&] { EXPECT_EQ(twice.pop(), 8); });
        let_others_run();
        EXPECT_EQ(other.try_push(7), channel_status::success);
        selects.join();
        EXPECT_TRUE(ended);
        EXPECT_EQ(twice.try_push(8), channel_status::success); // only `behind` waits
        behind.join();
        EXPECT_EQ(twice.try_push(9), channel_status::full); // no fiber waits any more
    });
}

// The select is the last waiter in the list of a channel. It leaves that list when another channel
// becomes ready.
TEST_F(after_go_in_turn, select_that_leaves_the_end_of_a_list_keeps_other_waiters_in_it) {
    runtime.run([] {
        for (const bool pushes : {false, true}) {
            numbers crowded, other;
            const auto wait_in = [&](int value) {
                if (pushes) {
                    EXPECT_EQ(crowded.push(value), channel_status::success);
                } else {
                    EXPECT_EQ(crowded.pop(), value);
                }
            };
            sennit::fiber before([&] { wait_in(1); });
            let_others_run();
            sennit::fiber selects([&] {
                if (pushes)
                    sennit::select(sennit::on_push(crowded, 9, unexpected),
                                   sennit::on_pop(other, ignored));
                else
                    sennit::select(sennit::on_pop(crowded, unexpected),
                                   sennit::on_pop(other, ignored));
                wait_in(2);
            });
            let_others_run();
            EXPECT_EQ(other.try_push(0), channel_status::success);
            let_others_run(); // the fiber waits again, now without a select
            for (const int value : {1, 2}) {
                int got = value;
                EXPECT_EQ(pushes ? crowded.try_pop(got) : crowded.try_push(value),
                          channel_status::success);
                EXPECT_EQ(got, value);
            }
            before.join();
            selects.join();
        }
    });
}

// The partner arrives when the select already waits. The test fails by chance with a probability
// below 1e-50.
TEST_F(after_go_in_turn, select_prefers_none_of_its_cases_that_wait_on_one_channel) {
    runtime.run([] {
        constexpr int count = 400;
        numbers one;
        std::array<int, 2> sent{}, got{};
        sennit::fiber pushes([&] {
            for (int i = 0; i < count; ++i)
                ++sent[sennit::select(sennit::on_push(one, 0, ignored),
                                      sennit::on_push(one, 1, ignored))];
            for (int i = 0; i < count; ++i)
                ++got[sennit::select(sennit::on_pop(one, ignored), sennit::on_pop(one, ignored))];
        });
        std::array<int, 2> values{};
        for (int i = 0; i < count; ++i) {
            sennit::this_fiber::yield();
            ++values[static_cast<std::size_t>(one.pop().value())];
        }
        for (int i = 0; i < count; ++i) {
            sennit::this_fiber::yield();
            (void)one.push(1);
        }
        pushes.join();
        EXPECT_EQ(values, sent);
        for (const auto& times : {sent, got})
            for (const int part : times) EXPECT_GT(part, count / 10);
    });
}

} // namespace
