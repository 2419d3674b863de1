// SPDX-License-Identifier: Apache-2.0
// Tests race and retry.
#include "on_workers.hpp"

#include <sennit/event.hpp>
#include <sennit/nursery.hpp>
#include <sennit/race.hpp>
#include <sennit/retry.hpp>
#include <sennit/with_timeout.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace std::chrono_literals;

class race : public on_workers {};
SENNIT_ON_WORKERS(race);

// Waits until it is cancelled, and counts that.
struct loser {
    std::atomic<int>& cancelled;
    int operator()() const {
        try {
            sennit::event().wait();
        } catch (const sennit::cancelled&) {
            ++cancelled;
            throw;
        }
        return -1;
    }
};

TEST_P(race, first_result_wins_and_losers_are_awaited) {
    const auto body = [] {
        std::atomic<int> cancelled{0};
        std::atomic<bool> began{false};
        const int won = sennit::race(
            [&] {
                began = true;
                return loser{cancelled}();
            },
            [&] {
                yield_until(began);
                return 7;
            },
            [] { return throw std::runtime_error("lost"), 1; });
        EXPECT_EQ(won, 7);
        EXPECT_EQ(cancelled, 1);
    };
    runtime.run(body);
    body();
}

TEST_P(race, result_types) {
    runtime.run([] {
        EXPECT_EQ(*sennit::race([] { return std::make_unique<int>(3); },
                                [] { return std::make_unique<int>(3); }),
                  3);
        const double either = sennit::race([] { return 2; }, [] { return 2.0; });
        EXPECT_EQ(either, 2.0);
        std::atomic<int> ran{0};
        sennit::race([&] { ++ran; }, [&] { ++ran; });
        EXPECT_GE(ran, 1);
    });
}

TEST_P(race, all_errors_come_in_order_of_functions) {
    runtime.run([] {
        try {
            sennit::race([] { throw std::runtime_error("0"); },
                         [] { throw std::logic_error("1"); });
            ADD_FAILURE();
        } catch (const sennit::exception_list& all) {
            ASSERT_EQ(all.size(), 2u);
            EXPECT_THROW(std::rethrow_exception(all[0]), std::runtime_error);
            EXPECT_THROW(std::rethrow_exception(all[1]), std::logic_error);
        }
    });
}

TEST_P(race, range_of_functions) {
    runtime.run([] {
        std::atomic<int> cancelled{0};
        std::vector<std::function<int()>> all;
        for (int i = 0; i < 5; ++i) all.emplace_back(loser{cancelled});
        all.emplace_back([] { return 9; });
        EXPECT_EQ(sennit::race(all), 9);
        EXPECT_LE(cancelled, 5);
        try {
            (void)sennit::race(std::vector<std::function<int()>>());
            ADD_FAILURE();
        } catch (const sennit::exception_list& none) {
            EXPECT_EQ(none.size(), 0u);
        }
    });
}

TEST_P(race, time_limit_cancels_all_functions) {
    runtime.run([] {
        std::atomic<int> cancelled{0};
        EXPECT_THROW(sennit::with_timeout(
                         1ms, [&] { (void)sennit::race(loser{cancelled}, loser{cancelled}); }),
                     sennit::timed_out);
        EXPECT_LE(cancelled, 2);
    });
}

// `cancelled` that no cancellation has caused is an error like any other.
TEST_P(race, cancelled_thrown_by_function_is_error) {
    runtime.run([] {
        EXPECT_THROW(
            sennit::race([] { throw sennit::cancelled(); }, [] { throw sennit::cancelled(); }),
            sennit::exception_list);
        EXPECT_EQ(sennit::race([]() -> int { throw sennit::cancelled(); }, [] { return 1; }), 1);
    });
}

TEST_P(race, many_winners_give_one_result) {
    runtime.run([] {
        for (int round = 0; round < race_rounds / 20; ++round) {
            const int won = sennit::race([] { return 1; }, [] { return 2; }, [] { return 3; });
            EXPECT_TRUE(won >= 1 && won <= 3);
        }
    });
}

class retry : public on_workers {};
SENNIT_ON_WORKERS(retry);

constexpr sennit::retry_policy quick{.attempts = 4, .backoff = {.first = 1us, .most = 3us}};

TEST_P(retry, returns_first_result) {
    const auto body = [] {
        int attempts = 0;
        const auto third = [&] {
            if (++attempts < 3) throw std::runtime_error("not yet");
            return std::make_unique<int>(attempts);
        };
        EXPECT_EQ(*sennit::retry(quick, third), 3);
        EXPECT_EQ(attempts, 3);
        int x = 5;
        EXPECT_EQ(&sennit::retry(quick, [&]() -> int& { return x; }), &x);
        sennit::retry(quick, [] {});
    };
    runtime.run(body);
    body();
}

TEST_P(retry, last_exception_leaves) {
    runtime.run([] {
        int attempts = 0;
        try {
            sennit::retry(quick, [&] { throw std::runtime_error(std::to_string(++attempts)); });
            ADD_FAILURE();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "4");
        }
    });
}

TEST_P(retry, predicate_chooses_exceptions) {
    runtime.run([] {
        int attempts = 0;
        const auto count = [&](const auto& error, auto predicate) {
            attempts = 0;
            try {
                sennit::retry(
                    quick,
                    [&] {
                        ++attempts;
                        throw error;
                    },
                    predicate);
            } catch (...) {
            }
            return attempts;
        };
        const auto only = sennit::retry_on<std::system_error, sennit::timed_out>;
        EXPECT_EQ(count(std::system_error(std::make_error_code(std::errc::timed_out)), only), 4);
        EXPECT_EQ(count(sennit::timed_out(), only), 4);
        EXPECT_EQ(count(std::logic_error("x"), only), 1);
        EXPECT_EQ(count(5, only), 1);
        EXPECT_EQ(count(5, [](std::exception_ptr) { return true; }), 4);
        EXPECT_EQ(count(std::logic_error("x"),
                        [](const std::exception& e) { return e.what()[0] == 'x'; }),
                  4);
    });
}

TEST_P(retry, cancellation_ends_delay_and_is_not_retried) {
    runtime.run([] {
        const sennit::retry_policy slow{.attempts = 3, .backoff = {.first = 1h, .most = 1h}};
        std::atomic<int> attempts{0};
        sennit::nursery calls;
        calls.start([&] {
            sennit::retry(slow, [&] {
                ++attempts;
                throw std::runtime_error("x");
            });
        });
        yield_until([&] { return attempts == 1; });
        let_others_run();
        calls.cancel();
        EXPECT_NO_THROW(calls.join());
        EXPECT_EQ(attempts, 1);
        EXPECT_THROW(sennit::retry(quick,
                                   [&] {
                                       ++attempts;
                                       throw sennit::cancelled();
                                   }),
                     sennit::cancelled);
        EXPECT_EQ(attempts, 2);
    });
}

TEST_P(retry, policy_out_of_range_is_refused) {
    const auto refused = [](sennit::retry_policy policy) {
        EXPECT_THROW(sennit::retry(policy, [] {}), std::invalid_argument);
    };
    refused({.attempts = 0});
    refused({.backoff = {.jitter = 1.5}});
    refused({.backoff = {.first = -1ns}});
    refused({.backoff = {.first = 2s, .most = 1s}});
}

TEST_P(retry, delays_double_up_to_the_most_and_jitter_shortens_them) {
    const sennit::backoff plain{.first = 10ms, .most = 65ms};
    const std::chrono::nanoseconds expected[] = {10ms, 20ms, 40ms, 65ms, 65ms};
    for (unsigned nth = 1; nth <= 5; ++nth) EXPECT_EQ(plain.delay(nth, 1), expected[nth - 1]);
    EXPECT_EQ(plain.delay(1'000'000, 1), 65ms);
    const sennit::backoff full{.first = 10ms, .most = 65ms, .jitter = 1};
    EXPECT_EQ(full.delay(2, 0), 20ms);
    EXPECT_EQ(full.delay(2, 1), 0ms);
    const sennit::backoff half{.first = 10ms, .most = 65ms, .jitter = 0.5};
    runtime.run([&] {
        bool differ = false;
        const auto first = half.random_delay(1);
        for (int i = 0; i < 1000; ++i) {
            const auto delay = half.random_delay(1);
            EXPECT_GE(delay, 5ms);
            EXPECT_LE(delay, 10ms);
            differ |= delay != first;
        }
        EXPECT_TRUE(differ);
    });
}

} // namespace
