// SPDX-License-Identifier: Apache-2.0
// select with channels, times and stop tokens.
#include "channels.hpp"
#include "thread_or_fiber.hpp"

#include <sennit/fiber.hpp>
#include <sennit/nursery.hpp>
#include <sennit/select.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <deque>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
using sennit::channel_status;
constexpr auto drop = [](auto&&) {};

// True for the result of a call that no overload refuses.
template <class Result>
concept accepted = !std::same_as<Result, sennit::base::refused_call>;
template <class C, class F>
concept may_pop = accepted<decltype(sennit::on_pop(std::declval<C&>(), std::declval<F>()))>;
static_assert(may_pop<sennit::channel<int>, void (*)(int)> &&
              !may_pop<sennit::channel<int>, void (*)(std::string)>);
static_assert(!may_pop<sennit::channel<int>, void (*)()> &&
              !may_pop<const sennit::channel<int>, void (*)(int)>);
template <class Case>
concept selectable = accepted<decltype(sennit::select(std::declval<Case>()))>;
using time_case = decltype(sennit::after(0ns, nothing));
static_assert(selectable<time_case> && !selectable<time_case&> &&
              !selectable<int>); // a case serves one select

class select_cases : public thread_or_fiber {};
INSTANTIATE_TEST_SUITE_P(by, select_cases, testing::Bool(), name_of_strand);

TEST_P(select_cases, select_does_one_case_and_returns_its_number) {
    go([] {
        sennit::channel<int> a(1), b(1);
        int ran = 0, got = 0;
        const auto choose = [&] {
            return sennit::select(sennit::on_pop(a, [&](int value) { ++ran, got = value; }),
                                  sennit::on_push(b, 5, [&] { ran += 10; }),
                                  sennit::otherwise([&] { ran += 100; }));
        };
        EXPECT_EQ(choose(), 1u);
        EXPECT_EQ(ran, 10);
        EXPECT_EQ(choose(), 2u);
        EXPECT_EQ(ran, 110);
        (void)a.push(7);
        EXPECT_EQ(choose(), 0u);
        EXPECT_EQ(ran, 111);
        EXPECT_EQ(got, 7);
        EXPECT_EQ(a.size(), 0u);
        EXPECT_EQ(b.pop(), 5);
        EXPECT_EQ(b.size(), 0u); // the value of a case that did not happen is in no channel
    });
}

TEST_P(select_cases, select_waits_for_partner_of_any_case) {
    go([&] {
        sennit::channel<int> a, b, c, d;
        for (int i = 0; i < 400; ++i) {
            sennit::fiber other = partner([&, i] {
                if (i % 4 < 2)
                    EXPECT_EQ((i % 4 == 0 ? a : b).push(i), channel_status::success);
                else
                    EXPECT_EQ((i % 4 == 2 ? c : d).pop(), i);
            });
            const auto same = [i](int value) { EXPECT_EQ(value, i); };
            EXPECT_EQ(sennit::select(sennit::on_pop(a, same), sennit::on_pop(b, same),
                                     sennit::on_push(c, i, nothing),
                                     sennit::on_push(d, i, nothing)),
                      static_cast<std::size_t>(i % 4));
            other.join();
        }
    });
}

TEST_P(select_cases, select_meets_another_select) {
    go([&] {
        sennit::channel<int> a, b;
        int sum = 0;
        sennit::fiber other = partner([&] {
            for (int i = 0; i < 1000; ++i)
                sennit::select(sennit::on_push(a, 1, nothing), sennit::on_push(b, 2, nothing));
            a.close();
        });
        const auto take = [&](int value) { sum += value == 1 || value == 2; };
        for (bool open = true; open;)
            sennit::select(sennit::on_pop(b, take), sennit::on_pop(a, take, [&] { open = false; }));
        EXPECT_EQ(sum, 1000);
        other.join();
    });
}

TEST_P(select_cases, select_treats_closed_channels_as_ready) {
    go([] {
        sennit::channel<int> drained(2), full(1), never;
        (void)drained.push(1);
        (void)full.push(1);
        drained.close();
        full.close(std::make_exception_ptr(1));
        int got = 0, ends = 0;
        const auto end = [&] { ++ends; };
        EXPECT_EQ(sennit::select(sennit::on_pop(never, drop),
                                 sennit::on_pop(
                                     drained, [&](int value) { got = value; }, end)),
                  1u);
        EXPECT_EQ(got, 1);
        EXPECT_EQ(ends, 0);
        const auto unexpected = [](auto&&...) { ADD_FAILURE(); };
        EXPECT_EQ(sennit::select(sennit::on_pop(drained, unexpected, end),
                                 sennit::on_pop(never, unexpected)),
                  0u);
        EXPECT_EQ(sennit::select(sennit::on_push(full, 2, unexpected, end),
                                 sennit::otherwise(unexpected)),
                  0u);
        EXPECT_EQ(ends, 2);
        EXPECT_EQ(sennit::select(sennit::on_pop(drained, unexpected)),
                  0u); // the case has no function for the end
        EXPECT_EQ(sennit::select(sennit::on_push(full, 2, unexpected)), 0u);
        EXPECT_EQ(full.pop(), 1);
        EXPECT_EQ(sennit::select(sennit::on_pop(full, unexpected, end)),
                  0u); // only pop() throws the error
        EXPECT_EQ(ends, 3);
    });
}

TEST_P(select_cases, close_wakes_select) {
    go([&] {
        for (int i = 0; i < 200; ++i) {
            sennit::channel<int> a, b;
            sennit::fiber closer = partner([&, i] { (i % 2 ? a : b).close(); });
            bool closed = false;
            const auto unexpected = [](auto&&...) { ADD_FAILURE(); };
            const auto end = [&] { closed = true; };
            EXPECT_EQ(sennit::select(sennit::on_push(b, 1, unexpected, end),
                                     sennit::on_pop(a, unexpected, end)),
                      static_cast<std::size_t>(i % 2));
            EXPECT_TRUE(closed);
            closer.join();
        }
    });
}

TEST_P(select_cases, select_ignores_disabled_cases) {
    go([] {
        sennit::channel<int> ready(4);
        for (int i = 0; i < 4; ++i) (void)ready.push(i);
        std::stop_source stopped;
        stopped.request_stop();
        const auto unexpected = [](auto&&...) { ADD_FAILURE(); };
        for (int i = 0; i < 4; ++i)
            EXPECT_EQ(
                sennit::select(
                    sennit::when(false, sennit::on_pop(ready, unexpected)),
                    sennit::when(false, sennit::on_stop(stopped.get_token(), unexpected)),
                    sennit::when(false, sennit::otherwise(unexpected)),
                    sennit::when(false, sennit::after(0ns, unexpected)),
                    sennit::when(true, sennit::when(false, sennit::on_push(ready, 1, unexpected))),
                    sennit::when(true,
                                 sennit::on_pop(ready, [i](int value) { EXPECT_EQ(value, i); }))),
                5u);
        EXPECT_THROW(sennit::select(sennit::when(false, sennit::on_pop(ready, drop)),
                                    sennit::when(false, sennit::otherwise(unexpected))),
                     std::logic_error);
        EXPECT_EQ(sennit::select(sennit::when(false, sennit::on_pop(ready, drop)),
                                 sennit::otherwise(nothing)),
                  1u);
    });
}

TEST_P(select_cases, select_waits_until_a_time) {
    go([] {
        sennit::channel<int> never;
        const auto start = std::chrono::steady_clock::now();
        int ran = 0;
        EXPECT_EQ(sennit::select(sennit::after(0ns, [&] { ++ran; })), 0u);
        EXPECT_EQ(sennit::select(sennit::on_pop(never, drop), sennit::after(-1h, [&] { ++ran; })),
                  1u);
        EXPECT_EQ(sennit::select(sennit::after(2h, nothing), sennit::on_push(never, 1, nothing),
                                 sennit::after(2ms, [&] { ++ran; }), sennit::after(1h, nothing)),
                  2u);
        EXPECT_GE(std::chrono::steady_clock::now() - start, 2ms);
        EXPECT_EQ(sennit::select(sennit::at(start, [&] { ++ran; }), sennit::on_pop(never, drop)),
                  0u);
        EXPECT_EQ(
            sennit::select(sennit::on_pop(never, drop),
                           sennit::at(std::chrono::system_clock::now() + 1ms, [&] { ++ran; })),
            1u);
        EXPECT_EQ(ran, 5);
    });
}

TEST_P(select_cases, stop_request_wakes_select) {
    go([&] {
        sennit::channel<int> never;
        std::stop_source source;
        sennit::fiber other = partner([&] { source.request_stop(); });
        EXPECT_EQ(sennit::select(sennit::on_pop(never, drop),
                                 sennit::on_stop(std::stop_token(), nothing),
                                 sennit::on_stop(source.get_token(), nothing)),
                  2u);
        other.join();
        EXPECT_EQ(sennit::select(sennit::on_stop(source.get_token(), nothing),
                                 sennit::otherwise(nothing)),
                  0u);
    });
}

TEST_P(select_cases, cancellation_ends_select) {
    go([&] {
        sennit::channel<int> never, full(1), room(1);
        (void)full.push(1);
        const auto wait = [&] {
            return sennit::select(sennit::on_pop(never, drop), sennit::on_push(full, 2, nothing),
                                  sennit::after(1h, nothing));
        };
        EXPECT_THROW(sennit::with_timeout(1ms, wait), sennit::timed_out);
        std::atomic<int> ended{0};
        sennit::nursery waiting;
        waiting.start({.runtime = &runtime}, [&] {
            EXPECT_EQ(room.push(1), channel_status::success);
            EXPECT_THROW(wait(), sennit::cancelled);
            EXPECT_EQ(sennit::select(sennit::on_pop(never, drop), sennit::otherwise(nothing)),
                      1u); // this select need not wait
            ++ended;
        });
        EXPECT_EQ(room.pop(), 1);
        waiting.cancel();
        waiting.join();
        EXPECT_EQ(ended, 1);
        EXPECT_EQ(full.pop(), 1);
        EXPECT_EQ(full.size(), 0u);
        EXPECT_EQ(never.try_push(1), channel_status::full); // no select waits there any more
    });
}

TEST_P(select_cases, select_runs_the_function_after_it_has_left_all_channels) {
    go([] {
        sennit::channel<std::unique_ptr<int>> a(1), b(1);
        (void)a.push(std::make_unique<int>(1));
        EXPECT_EQ(
            sennit::select(sennit::on_pop(a,
                                          [&](std::unique_ptr<int> value) { // the channels are free
                                              EXPECT_EQ(a.push(std::move(value)),
                                                        channel_status::success);
                                              EXPECT_EQ(sennit::select(sennit::on_pop(b, drop),
                                                                       sennit::on_pop(a, drop)),
                                                        1u);
                                              a.close();
                                          }),
                           sennit::on_pop(b, drop)),
            0u);
        EXPECT_TRUE(a.is_closed());
        EXPECT_THROW(sennit::select(sennit::otherwise([] { throw std::runtime_error("x"); })),
                     std::runtime_error);
    });
}

// The test fails by chance with a probability below 64 * (63/64)^4000, which is 3e-26: the least
// likely of the ready cases has a probability of 1/64.
template <std::size_t... I>
void expect_each_chosen(std::index_sequence<I...>) {
    constexpr std::size_t count = sizeof...(I);
    std::deque<sennit::channel<int>> channels;
    for (std::size_t i = 0; i < count; ++i) channels.emplace_back(1);
    const auto push = [&](std::size_t i) { (void)channels[i].try_push(1); };
    // The ready cases: all, some, the first and the last.
    for (const std::size_t apart : {std::size_t{1}, std::size_t{7}, count - 1}) {
        std::array<int, count> chosen{};
        for (int round = 0; round < 4000; ++round) {
            for (std::size_t i = 0; i < count; i += apart) push(i);
            ++chosen[sennit::select(sennit::on_pop(channels[I], drop)...)];
        }
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_EQ(chosen[i] > 0, i % apart == 0) << i << " of each " << apart;
        for (auto& one : channels)
            for (int got = 0; one.try_pop(got) == channel_status::success;) {
            }
    }
}

TEST_P(select_cases, select_starves_none_of_64_cases) {
    go([] { expect_each_chosen(std::make_index_sequence<64>()); });
    go([] { expect_each_chosen(std::make_index_sequence<2>()); });
}

TEST_P(select_cases, select_takes_a_channel_in_several_cases) {
    go([] {
        sennit::channel<int> numbers(1);
        std::array<int, 4> chosen{};
        for (int round = 0; round < 2000; ++round)
            ++chosen[sennit::select(
                sennit::on_pop(numbers, drop), sennit::on_push(numbers, 1, nothing),
                sennit::on_push(numbers, 2, nothing), sennit::on_pop(numbers, drop))];
        EXPECT_EQ(chosen[0] + chosen[3], 1000);
        for (const int times : chosen) EXPECT_GT(times, 0);
        numbers.close();
        int ends = 0;
        for (int i = 0; i < 10; ++i)
            sennit::select(sennit::on_pop(numbers, drop, [&] { ++ends; }),
                           sennit::on_push(numbers, 1, nothing, [&] { ++ends; }));
        EXPECT_EQ(ends, 10);
    });
}

} // namespace
