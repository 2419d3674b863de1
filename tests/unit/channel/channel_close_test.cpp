// SPDX-License-Identifier: Apache-2.0
// How a channel ends and how calls that wait on it end: close, errors, cancellation, time limits.
#include "channels.hpp"

#include <sennit/channel.hpp>
#include <sennit/fiber.hpp>
#include <sennit/nursery.hpp>
#include <sennit/this_fiber.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::channel_status;

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};
std::exception_ptr error(const char* what) {
    return std::make_exception_ptr(failure(what));
}

// With one worker, every fiber that was started waits in its call once let_others_run() has
// returned.
class channel_close : public testing::TestWithParam<std::size_t> {
protected:
    sennit::runtime runtime{{.workers = 1}};
    const int filling = static_cast<int>(std::min(GetParam(), std::size_t{20}));
    sennit::channel<int> numbers{GetParam()};

    void fill() {
        for (int i = 0; i < filling; ++i) EXPECT_EQ(numbers.try_push(i), channel_status::success);
    }
    void expect_filling_only() {
        int got = -1;
        for (int i = 0; i < filling; ++i) {
            EXPECT_EQ(numbers.try_pop(got), channel_status::success);
            EXPECT_EQ(got, i);
        }
        EXPECT_NE(numbers.try_pop(got), channel_status::success);
    }
    static void let_others_run() {
        for (int i = 0; i < 100; ++i) sennit::this_fiber::yield();
    }
    // Every form of pop, each repeated until the end of the channel.
    std::vector<std::function<void()>> ways_to_drain() {
        return {
            [this] {
                while (numbers.pop()) {
                }
            },
            [this] {
                for (int to = 0; numbers.pop(to) != channel_status::closed;) {
                }
            },
            [this] {
                for (int to = 0; numbers.pop_for(to, 1h) != channel_status::closed;) {
                }
            },
            [this] {
                for (int to = 0; numbers.try_pop(to) != channel_status::closed;) let_others_run();
            },
            [this] {
                for ([[maybe_unused]] const int i : numbers) {
                }
            },
        };
    }
};
INSTANTIATE_TEST_SUITE_P(all, channel_close, testing::Values(0u, 1u, 2u, 16u, unbounded),
                         [](const auto& test) {
                             return test.param == unbounded
                                        ? "unbounded"
                                        : std::string("c").append(std::to_string(test.param));
                         });

TEST_P(channel_close, close_fails_pushes_and_lets_pops_take_the_remaining_values) {
    fill();
    EXPECT_FALSE(numbers.is_closed());
    numbers.close();
    EXPECT_TRUE(numbers.is_closed());
    numbers.close();
    EXPECT_EQ(numbers.push(1), channel_status::closed);
    EXPECT_EQ(numbers.try_push(1), channel_status::closed);
    EXPECT_EQ(numbers.push_for(1, 0ns), channel_status::closed);
    EXPECT_EQ(numbers.push_until(1, std::chrono::steady_clock::now() + 1h), channel_status::closed);
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(filling));
    expect_filling_only();
    int got = -1;
    EXPECT_EQ(numbers.pop(), std::nullopt);
    EXPECT_EQ(numbers.pop(got), channel_status::closed);
    EXPECT_EQ(numbers.try_pop(got), channel_status::closed);
    EXPECT_EQ(numbers.pop_for(got, 1h), channel_status::closed);
    EXPECT_EQ(numbers.pop_until(got, std::chrono::steady_clock::now() - 1h),
              channel_status::closed);
    EXPECT_TRUE(numbers.begin() == numbers.end());
    EXPECT_EQ(got, -1);
}

TEST_P(channel_close, close_leaves_values_with_waiting_pushers) {
    if (GetParam() == unbounded) return;
    runtime.run([&] {
        sennit::channel<std::string> texts(GetParam());
        for (int i = 0; i < filling; ++i) EXPECT_EQ(texts.push("first"), channel_status::success);
        std::vector<sennit::fiber> pushers;
        std::atomic<int> kept{0};
        for (int i = 0; i < 5; ++i)
            pushers.emplace_back([&, text = std::to_string(i), is = std::to_string(i)]() mutable {
                EXPECT_EQ(texts.push_for(std::move(text), 1h), channel_status::closed);
                kept += text == is; // NOLINT: a refused push does not move
            });
        pushers.emplace_back([&] { kept += texts.push("x") == channel_status::closed; });
        let_others_run();
        EXPECT_EQ(kept, 0);
        texts.close();
        for (sennit::fiber& one : pushers) one.join();
        EXPECT_EQ(kept, 6);
        for (int i = 0; i < filling; ++i) EXPECT_EQ(texts.pop(), "first");
        EXPECT_EQ(texts.pop(), std::nullopt);
    });
}

TEST_P(channel_close, close_wakes_all_waiting_poppers) {
    for (const bool with_error : {false, true})
        runtime.run([&] {
            std::atomic<int> ended{0}, threw{0};
            sennit::channel<int> mine(GetParam());
            std::vector<sennit::fiber> poppers;
            for (int i = 0; i < 4; ++i)
                poppers.emplace_back([&, i] {
                    int got = -1;
                    try {
                        if (i == 0) ended += !mine.pop();
                        if (i == 1) ended += mine.pop(got) == channel_status::closed;
                        if (i == 2) ended += mine.pop_for(got, 1h) == channel_status::closed;
                        if (i == 3) ended += mine.begin() == mine.end();
                    } catch (const failure& why) {
                        threw += why.what() == std::string("why");
                    }
                    EXPECT_EQ(got, -1);
                });
            let_others_run();
            EXPECT_EQ(ended + threw, 0);
            with_error ? mine.close(error("why")) : mine.close();
            for (sennit::fiber& one : poppers) one.join();
            EXPECT_EQ(ended, with_error ? 0 : 4);
            EXPECT_EQ(threw, with_error ? 4 : 0);
        });
}

TEST_P(channel_close, pop_from_drained_channel_throws_error_of_close) {
    fill();
    numbers.close(error("first"));
    numbers.close(error("second"));
    numbers.close();
    EXPECT_EQ(numbers.push(1), channel_status::closed); // pushes do not throw
    EXPECT_EQ(numbers.try_push(1), channel_status::closed);
    for (int i = 0; i < filling; ++i) EXPECT_EQ(numbers.pop(), i);
    for (const auto& drain : ways_to_drain()) { // every form, every time
        try {
            drain();
            ADD_FAILURE() << "no error";
        } catch (const failure& why) {
            EXPECT_STREQ(why.what(), "first");
        }
    }
}

TEST_P(channel_close, first_close_counts_even_without_an_error) {
    numbers.close();
    numbers.close(error("late"));
    for (const auto& drain : ways_to_drain()) EXPECT_NO_THROW(drain());
}

TEST_P(channel_close, concurrent_closes_choose_one_error_for_all) {
    for (int round = 0; round < 50; ++round) {
        sennit::channel<int> mine(GetParam());
        std::vector<std::string> seen(3);
        std::vector<std::jthread> threads;
        for (std::string& what : seen)
            threads.emplace_back([&] {
                mine.close(error(&what == &seen[0] ? "0" : "1"));
                try {
                    (void)mine.pop();
                } catch (const failure& why) {
                    what = why.what();
                }
            });
        threads.clear();
        EXPECT_NE(seen[0], "");
        EXPECT_EQ(seen, std::vector(3, seen[0]));
    }
}

TEST_P(channel_close, close_ends_all_iterations) {
    runtime.run([&] {
        std::vector<sennit::fiber> readers;
        int sum = 0, ended = 0; // one worker
        for (int i = 0; i < 5; ++i)
            readers.emplace_back([&] {
                for (const int number : numbers) sum += number;
                ++ended;
            });
        for (int i = 1; i <= 100; ++i) EXPECT_EQ(numbers.push(i), channel_status::success);
        numbers.close();
        for (sennit::fiber& one : readers) one.join();
        EXPECT_EQ(sum, 5050);
        EXPECT_EQ(ended, 5);
    });
}

TEST_P(channel_close, cancellation_ends_waiting_pushes_and_keeps_their_values_out) {
    if (GetParam() == unbounded) return;
    runtime.run([&] {
        fill();
        int cancelled = 0;
        sennit::nursery pushers;
        for (int i = 0; i < 5; ++i)
            pushers.start([&] {
                try {
                    (void)numbers.push(99);
                } catch (const sennit::cancelled&) {
                    ++cancelled;
                    throw;
                }
            });
        let_others_run();
        EXPECT_EQ(cancelled, 0);
        pushers.cancel();
        pushers.join();
        EXPECT_EQ(cancelled, 5);
        expect_filling_only();
    });
}

TEST_P(channel_close, cancellation_ends_waiting_pops_that_then_take_no_value) {
    runtime.run([&] {
        int cancelled = 0, got = -1;
        sennit::nursery poppers;
        for (int i = 0; i < 5; ++i)
            poppers.start([&] {
                EXPECT_THROW(numbers.pop(got), sennit::cancelled);
                ++cancelled;
                // The scope stays cancelled, but calls that need not wait still work.
                EXPECT_THROW((void)numbers.pop(), sennit::cancelled);
                for (int k = 0; k < 3 && filling > 0; ++k) {
                    EXPECT_EQ(numbers.push(k), channel_status::success);
                    EXPECT_EQ(numbers.pop(), k);
                }
            });
        let_others_run();
        EXPECT_EQ(cancelled, 0);
        poppers.cancel();
        poppers.join();
        EXPECT_EQ(cancelled, 5);
        EXPECT_EQ(got, -1);
        fill(); // no cancelled pop takes one of these values
        expect_filling_only();
    });
}

TEST_P(channel_close, time_limit_ends_waiting_calls) {
    const auto wait_in_vain = [&] {
        int got = -1;
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { return numbers.pop(); }), sennit::timed_out);
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { return numbers.pop_for(got, 1h); }),
                     sennit::timed_out);
        EXPECT_EQ(sennit::with_timeout(1h, [&] { return numbers.pop_for(got, 1ms); }),
                  channel_status::timeout);
        fill();
        if (GetParam() != unbounded) {
            EXPECT_THROW(sennit::with_timeout(1ms, [&] { return numbers.push(99); }),
                         sennit::timed_out);
            EXPECT_EQ(sennit::with_timeout(1h, [&] { return numbers.push_for(99, 1ms); }),
                      channel_status::timeout);
        }
        expect_filling_only();
        EXPECT_EQ(got, -1);
    };
    wait_in_vain(); // a plain thread
    runtime.run(wait_in_vain);
    sennit::fiber({.runtime = &runtime}, wait_in_vain).join();
}

} // namespace
