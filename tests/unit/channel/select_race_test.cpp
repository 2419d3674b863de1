// SPDX-License-Identifier: Apache-2.0
// Selects that race with each other, with close, stop, time and cancellation. Exactly one case
// happens. A value is delivered exactly once if the function of its push has run, and not at all
// otherwise.
#include "race.hpp"

#include <sennit/detail/base/random.hpp>
#include <sennit/fiber.hpp>
#include <sennit/nursery.hpp>
#include <sennit/select.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sennit::channel_status;
using sennit::base::random;
using numbers = sennit::channel<int>;

class select_race : public race {
protected:
    // How often each value was sent and received.
    std::vector<std::atomic<int>> sent, got;
    // Returns the number of delivered values.
    int expect_balance() const {
        int delivered = 0;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            EXPECT_EQ(sent[i], got[i]) << "value " << i;
            EXPECT_LE(got[i], 1) << "value " << i;
            delivered += got[i];
        }
        return delivered;
    }
    void values(int count) {
        sent = std::vector<std::atomic<int>>(static_cast<std::size_t>(count));
        got = std::vector<std::atomic<int>>(static_cast<std::size_t>(count));
    }
    void count(std::vector<std::atomic<int>>& book, int value) {
        ++book.at(static_cast<std::size_t>(value));
    }
    void count_rest(numbers& from) {
        for (int value = 0; from.try_pop(value) == channel_status::success;) count(got, value);
    }
};
INSTANTIATE_TEST_SUITE_P(all, select_race, testing::ValuesIn(race_settings), name_of_race);

TEST_P(select_race, pushers_and_poppers_of_two_channels_conserve_all_values) {
    constexpr int each = 1000;
    for (const std::size_t capacity :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{16}, numbers::unbounded}) {
        values(3 * each);
        numbers a(capacity), b(capacity);
        std::atomic<int> pushing{3};
        for (int p = 0; p < 3; ++p)
            start([&, p, mine = random(chance.next())]() mutable {
                // The pushers use different orders of the channels.
                numbers &first = p == 0 ? a : b, &second = p == 0 ? b : a;
                for (int i = p * each; i < (p + 1) * each; ++i) {
                    int ran = 0;
                    const auto done = [&] { count(sent, i), ++ran; };
                    const bool patient = mine.below(2) == 0;
                    sennit::select(
                        sennit::on_push(first, i, done), sennit::on_push(second, i, done),
                        sennit::when(!patient, sennit::after(some_time(mine), [&] { ++ran; })),
                        sennit::when(mine.below(8) == 0, sennit::otherwise([&] { ++ran; })));
                    EXPECT_EQ(ran, 1);
                }
                if (--pushing == 0) a.close(), b.close();
            });
        for (int p = 0; p < 2; ++p)
            start([&, p, mine = random(chance.next())]() mutable {
                numbers &first = p == 0 ? a : b, &second = p == 0 ? b : a;
                for (bool first_open = true, second_open = true; first_open || second_open;) {
                    const auto take = [&](int value) { count(got, value); };
                    sennit::select(
                        sennit::when(first_open,
                                     sennit::on_pop(first, take, [&] { first_open = false; })),
                        sennit::when(second_open,
                                     sennit::on_pop(second, take, [&] { second_open = false; })),
                        sennit::when(mine.below(4) == 0, sennit::after(some_time(mine), nothing)));
                }
            });
        join();
        EXPECT_GT(expect_balance(), 0); // patient selects meet
    }
}

TEST_P(select_race, time_case_that_races_with_partner_that_gives_up_loses_no_value) {
    values(rounds);
    numbers a;
    std::atomic<bool> done{false};
    start([&, mine = random(chance.next())]() mutable {
        for (int i = 0; i < rounds; ++i) {
            if (a.push_for(int{i}, some_time(mine)) == channel_status::success) count(sent, i);
            if (i % 8 == 0) sennit::this_fiber::yield();
        }
        done = true;
    });
    start([&, mine = random(chance.next())]() mutable {
        numbers never;
        while (!done) {
            sennit::select(sennit::on_pop(never, [](int) { ADD_FAILURE(); }),
                           sennit::after(some_time(mine), nothing),
                           sennit::on_pop(a, [&](int value) { count(got, value); }));
            sennit::this_fiber::yield();
        }
    });
    join();
    expect_balance();
}

TEST_P(select_race, close_loses_no_value) {
    values(2 * rounds);
    int served = 0, ended = 0;
    for (int round = 0; round < rounds; ++round) {
        numbers a(static_cast<std::size_t>(round % 3)), b(static_cast<std::size_t>(round % 2));
        std::atomic<int> cases{0}, ends{0};
        const auto end = [&] { ++ends; };
        for (int p = 0; p < 2; ++p)
            start([&, p] {
                const int value = 2 * round + p;
                sennit::select(
                    sennit::on_push(
                        a, value, [&] { count(sent, value), ++cases; }, end),
                    sennit::on_push(b, value, [&] { count(sent, value), ++cases; }, end));
            });
        start([&] {
            const auto take = [&](int value) { count(got, value), ++cases; };
            sennit::select(sennit::on_pop(b, take, end), sennit::on_pop(a, take, end));
        });
        start([&, mine = random(chance.next())]() mutable {
            yield_some(mine, 8);
            b.close();
            a.close();
        });
        join();
        EXPECT_EQ(cases + ends, 3);
        count_rest(a);
        count_rest(b);
        served += cases > 0;
        ended += ends > 0;
    }
    expect_balance();
    EXPECT_GT(served, 0);
    EXPECT_GT(ended, 0); // if 0, close always came too late
}

TEST_P(select_race, stop_request_loses_no_value) {
    values(rounds);
    int stopped = 0;
    for (int round = 0; round < rounds; ++round) {
        numbers a;
        std::stop_source source;
        std::atomic<int> stops{0};
        const bool pushes = round % 2 == 0;
        start([&] {
            const auto stop = [&] { ++stops; };
            if (pushes)
                sennit::select(sennit::on_stop(source.get_token(), stop),
                               sennit::on_push(a, round, [&] { count(sent, round); }));
            else
                sennit::select(sennit::on_pop(a, [&](int value) { count(got, value); }),
                               sennit::on_stop(source.get_token(), stop));
            a.close();
        });
        start([&, mine = random(chance.next())]() mutable {
            yield_some(mine, 4);
            // In two of eight rounds, waits for the stop request, so that the partner surely comes
            // too late. In all other rounds, threads that start quickly might always meet.
            while (round % 8 < 2 && !source.stop_requested()) sennit::this_fiber::yield();
            if (!pushes) {
                if (a.push(round) == channel_status::success) count(sent, round);
            } else if (const auto value = a.pop()) {
                count(got, *value);
            }
        });
        start([&, mine = random(chance.next())]() mutable {
            yield_some(mine, 4);
            source.request_stop();
        });
        join();
        EXPECT_LE(stops, 1);
        stopped += stops;
    }
    expect_balance();
    EXPECT_GT(stopped, 0);
}

TEST_P(select_race, cancellation_loses_no_value) {
    if (GetParam().how == by::threads) return; // children of nurseries are fibers
    values(rounds);
    for (int round = 0; round < rounds; ++round) {
        numbers a, never;
        sennit::nursery selecting;
        const bool pushes = round % 2 == 0;
        selecting.start({.runtime = &runtime}, [&] {
            if (pushes)
                sennit::select(sennit::on_pop(never, [](int) {}),
                               sennit::on_push(a, round, [&] { count(sent, round); }));
            else
                sennit::select(sennit::on_pop(a, [&](int value) { count(got, value); }),
                               sennit::on_push(never, 1, nothing));
        });
        start([&, mine = random(chance.next())]() mutable {
            yield_some(mine, 4);
            if (!pushes) {
                if (a.push(round) == channel_status::success) count(sent, round);
            } else if (const auto value = a.pop()) {
                count(got, *value);
            }
        });
        yield_some(chance, 4);
        if (chance.below(4) != 0) selecting.cancel();
        selecting.join();
        a.close();
        join();
        EXPECT_EQ(never.try_push(1), channel_status::full);
    }
    expect_balance();
}

TEST_P(select_race, select_on_both_sides_of_a_channel_never_meets_itself) {
    for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}})
        for (const int actors : {2, 5}) {
            numbers meeting(capacity);
            std::atomic<long> pushes{0}, sum_sent{0}, sum_got{0};
            for (int me = 1; me <= actors; ++me)
                start([&, me] {
                    for (bool open = true; open;) {
                        const auto end = [&] { open = false; };
                        const auto sent_mine = [&] {
                            sum_sent += me;
                            if (++pushes == 3000) meeting.close();
                        };
                        const auto take = [&](int value) {
                            EXPECT_TRUE(capacity > 0 || value != me);
                            sum_got += value;
                        };
                        if (me % 2 == 0)
                            sennit::select(sennit::on_push(meeting, me, sent_mine, end),
                                           sennit::on_pop(meeting, take, end));
                        else
                            sennit::select(sennit::on_pop(meeting, take, end),
                                           sennit::on_push(meeting, me, sent_mine, end));
                    }
                });
            join();
            for (int value = 0; meeting.try_pop(value) == channel_status::success;)
                sum_got += value;
            EXPECT_GE(pushes, 3000);
            EXPECT_EQ(sum_sent, sum_got);
        }
}

} // namespace
