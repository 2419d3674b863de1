// SPDX-License-Identifier: Apache-2.0
// Tests as_completed: order of completion, the bound on unconsumed items, errors, leaving early.
#include "on_workers.hpp"

#include <sennit/as_completed.hpp>
#include <sennit/channel.hpp>
#include <sennit/event.hpp>
#include <sennit/nursery.hpp>
#include <sennit/with_timeout.hpp>

#include <chrono>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

class as_completed : public on_workers {};
SENNIT_ON_WORKERS(as_completed);

TEST_P(as_completed, each_result_comes_once) {
    const auto body = [] {
        const std::vector<int> input = [] {
            std::vector<int> all(200);
            std::iota(all.begin(), all.end(), 0);
            return all;
        }();
        for (const std::size_t limit : {1u, 2u, 16u, 1000u}) {
            std::set<std::string> seen;
            for (std::string& text : sennit::as_completed(input, limit, [](const int& n) {
                     for (int i = 0; i < n % 4; ++i) sennit::this_fiber::yield();
                     return std::to_string(n);
                 }))
                EXPECT_TRUE(seen.insert(std::move(text)).second);
            EXPECT_EQ(seen.size(), input.size());
        }
        for (int n : sennit::as_completed(std::vector<int>(), 3, [](int k) { return k; }))
            ADD_FAILURE() << n;
    };
    runtime.run(body);
    body();
}

TEST_P(as_completed, results_come_in_order_of_completion) {
    runtime.run([] {
        // Item k waits for the end of item k + 1, so the items complete from the last to the first.
        std::vector<sennit::event> done(9);
        std::vector<int> order;
        auto results = sennit::as_completed(std::views::iota(0, 8), 8, [&](int k) {
            if (k < 7) done[static_cast<std::size_t>(k) + 1].wait();
            return k;
        });
        for (const int k : results) {
            order.push_back(k);
            done[static_cast<std::size_t>(k)].set();
        }
        EXPECT_EQ(order, (std::vector<int>{7, 6, 5, 4, 3, 2, 1, 0}));
    });
}

TEST_P(as_completed, slow_consumer_bounds_items_that_were_started) {
    runtime.run([] {
        for (const int limit : {1, 4}) {
            std::atomic<int> started{0};
            int consumed = 0;
            for (int n : sennit::as_completed(std::views::iota(0, 50),
                                              static_cast<std::size_t>(limit), [&](int k) {
                                                  ++started;
                                                  return k;
                                              })) {
                (void)n;
                let_others_run(20); // the items that were started run on meanwhile
                EXPECT_LE(started, consumed + limit);
                ++consumed;
            }
            EXPECT_EQ(consumed, 50);
        }
    });
}

// A read that blocks delays no result: the sender sends the next element after the last answer.
TEST_P(as_completed, blocked_input_delays_no_result) {
    runtime.run([] {
        sennit::channel<int> questions;
        sennit::fiber first([&] { (void)questions.push(1); });
        int last = 0;
        for (const int n : sennit::as_completed(questions, 4, [](int k) { return 2 * k; })) {
            last = n;
            if (n >= 64)
                questions.close();
            else
                (void)questions.push(int(n));
        }
        EXPECT_EQ(last, 64);
        first.join();
    });
}

TEST_P(as_completed, error_comes_after_the_results_that_are_complete) {
    runtime.run([] {
        sennit::event fail_now;
        std::atomic<int> cancelled{0};
        int seen = 0;
        try {
            for (int n : sennit::as_completed(std::views::iota(0), 3, [&](int k) {
                     if (k == 0) return k;
                     if (k == 1) {
                         fail_now.wait();
                         throw std::runtime_error("mine");
                     }
                     try {
                         sennit::event().wait();
                     } catch (const sennit::cancelled&) {
                         ++cancelled;
                         throw;
                     }
                     return k;
                 })) {
                EXPECT_EQ(n, 0);
                ++seen;
                fail_now.set();
            }
            ADD_FAILURE();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "mine");
        }
        EXPECT_EQ(seen, 1);
        EXPECT_LE(cancelled, 2);
    });
}

TEST_P(as_completed, leaving_early_cancels_and_joins) {
    runtime.run([] {
        std::atomic<int> inside{0};
        const auto first_of = [&](bool by_exception) {
            for (const int n : sennit::as_completed(std::views::iota(0), 5, [&](int k) {
                     if (k == 0) return k;
                     ++inside;
                     try {
                         sennit::event().wait();
                     } catch (const sennit::cancelled&) {
                         --inside;
                         throw std::runtime_error("dropped");
                     }
                     return k;
                 })) {
                if (by_exception) throw std::logic_error("of the body");
                return n;
            }
            return -1;
        };
        EXPECT_EQ(first_of(false), 0);
        EXPECT_EQ(inside, 0);
        EXPECT_THROW((void)first_of(true), std::logic_error);
        EXPECT_EQ(inside, 0);
        // The loop never begins.
        {
            auto unused = sennit::as_completed(std::views::iota(0), 2, [](int k) { return k; });
        }
    });
}

TEST_P(as_completed, leaving_early_ends_blocked_read_of_input) {
    runtime.run([] {
        sennit::channel<int> input(1);
        (void)input.push(1);
        for (const int n : sennit::as_completed(input, 4, [](int k) { return k; })) {
            EXPECT_EQ(n, 1);
            break;
        }
        EXPECT_EQ(input.size(), 0u);
    });
}

TEST_P(as_completed, exception_of_input_is_thrown) {
    runtime.run([] {
        sennit::channel<int> input(2);
        (void)input.push(5);
        input.close(std::make_exception_ptr(std::logic_error("input")));
        int seen = 0;
        const auto read = [&] {
            for (const int n : sennit::as_completed(input, 1, [](int k) { return k; })) seen += n;
        };
        EXPECT_THROW(read(), std::logic_error);
        EXPECT_LE(seen, 5);
    });
}

TEST_P(as_completed, time_limit_ends_wait_for_result) {
    runtime.run([] {
        const auto never = [] {
            for (int n : sennit::as_completed(std::views::iota(0), 2, [](int k) {
                     sennit::event().wait();
                     return k;
                 }))
                ADD_FAILURE() << n;
        };
        EXPECT_THROW(sennit::with_timeout(1ms, never), sennit::timed_out);
    });
}

TEST_P(as_completed, move_only_elements_and_results_and_owned_input) {
    runtime.run([] {
        int sum = 0;
        for (std::unique_ptr<int>& one : sennit::as_completed(
                 std::vector<int>{1, 2, 3}, 2, [](int& n) { return std::make_unique<int>(n); }))
            sum += *std::exchange(one, nullptr);
        EXPECT_EQ(sum, 6);
        sennit::channel<std::unique_ptr<int>> input(3);
        for (int i = 0; i < 3; ++i) (void)input.push(std::make_unique<int>(i));
        input.close();
        for (const int n :
             sennit::as_completed(input, 2, [](std::unique_ptr<int> mine) { return *mine; }))
            sum += n;
        EXPECT_EQ(sum, 9);
    });
}

TEST_P(as_completed, is_input_range) {
    runtime.run([] {
        auto results = sennit::as_completed(std::views::iota(0), 3, [](int k) { return k; });
        static_assert(std::ranges::input_range<decltype(results)>);
        int count = 0;
        for (int n : results | std::views::take(5)) {
            (void)n;
            ++count;
        }
        EXPECT_EQ(count, 5);
    });
}

TEST_P(as_completed, race_of_completions_against_consumer) {
    runtime.run([] {
        long sum = 0;
        for (const int n :
             sennit::as_completed(std::views::iota(0, race_rounds), 3, [](int k) { return k; }))
            sum += n;
        EXPECT_EQ(sum, static_cast<long>(race_rounds) * (race_rounds - 1) / 2);
    });
}

TEST(as_completed_misuse, limit_of_zero_ends_program) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH((void)sennit::as_completed(std::vector<int>(1), 0, [](int k) { return k; }),
                 "SNT-081");
}

} // namespace
