// SPDX-License-Identifier: Apache-2.0
// Tests map_concurrent and for_each_concurrent.
#include "on_workers.hpp"

#include <sennit/channel.hpp>
#include <sennit/event.hpp>
#include <sennit/generator.hpp>
#include <sennit/map_concurrent.hpp>
#include <sennit/with_timeout.hpp>

#include <chrono>
#include <forward_list>
#include <list>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

class map_concurrent : public on_workers {};
SENNIT_ON_WORKERS(map_concurrent);

TEST_P(map_concurrent, results_come_in_input_order) {
    const auto body = [] {
        std::vector<int> input(200);
        std::iota(input.begin(), input.end(), 0);
        for (const std::size_t limit : {1u, 2u, 16u, 1000u}) {
            most_inside inside;
            const std::vector<std::string> out =
                sennit::map_concurrent(input, limit, [&](const int& n) {
                    inside.enter();
                    for (int i = 0; i < 5 - n % 5; ++i) sennit::this_fiber::yield();
                    inside.leave();
                    return std::to_string(n);
                });
            ASSERT_EQ(out.size(), input.size());
            for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], std::to_string(i));
            EXPECT_LE(inside.most(), static_cast<int>(limit));
        }
        EXPECT_TRUE(sennit::map_concurrent(std::vector<int>(), 4, [](int n) { return n; }).empty());
    };
    runtime.run(body);
    body();
}

TEST_P(map_concurrent, takes_all_kinds_of_ranges_and_types) {
    runtime.run([] {
        std::list<int> linked{1, 2, 3};
        const std::forward_list<int> forward{4, 5};
        int array[] = {6, 7};
        const auto twice = [](int n) { return 2 * n; };
        EXPECT_EQ(sennit::map_concurrent(linked, 2, twice), (std::vector<int>{2, 4, 6}));
        EXPECT_EQ(sennit::map_concurrent(forward, 2, twice), (std::vector<int>{8, 10}));
        EXPECT_EQ(sennit::map_concurrent(array, 2, twice), (std::vector<int>{12, 14}));
        EXPECT_EQ(sennit::map_concurrent(std::views::iota(0, 3), 2, twice),
                  (std::vector<int>{0, 2, 4}));
        EXPECT_EQ(
            sennit::map_concurrent(std::vector<bool>{true, false}, 2, [](bool b) { return !b; }),
            (std::vector<bool>{false, true}));
        // Lvalue elements are passed by reference, and the function may change them.
        sennit::for_each_concurrent(linked, 3, [](int& n) { n += 100; });
        EXPECT_EQ(linked, (std::list<int>{101, 102, 103}));
        // Move-only elements and results.
        const auto make = [](int n) { return std::make_unique<int>(n); };
        std::vector<std::unique_ptr<int>> owned =
            sennit::map_concurrent(std::views::iota(0, 4), 2, make);
        const std::vector<int> sums =
            sennit::map_concurrent(std::views::iota(0, 4) | std::views::transform(make), 3,
                                   [&](std::unique_ptr<int> mine) {
                                       return *mine + *owned[static_cast<std::size_t>(*mine)];
                                   });
        EXPECT_EQ(sums, (std::vector<int>{0, 2, 4, 6}));
        struct person {
            std::string name;
        };
        std::vector<person> people{{"a"}, {"b"}};
        EXPECT_EQ(sennit::map_concurrent(people, 2, &person::name),
                  (std::vector<std::string>{"a", "b"}));
        // A function object that can only be moved.
        sennit::for_each_concurrent(std::views::iota(0, 5), 2,
                                    [mine = std::make_unique<int>(0)](int) { (void)*mine; });
    });
}

sennit::generator<int> counting(std::atomic<int>& read, int up_to) {
    for (int i = 0; i < up_to; ++i) {
        ++read;
        co_yield int(i);
    }
}

TEST_P(map_concurrent, reads_one_element_for_each_free_place) {
    runtime.run([] {
        for (const int limit : {1, 3}) {
            std::atomic<int> read{0}, ended{0}, too_early{0};
            sennit::for_each_concurrent(counting(read, 60), static_cast<std::size_t>(limit),
                                        [&](int) {
                                            if (read > ended + limit) ++too_early;
                                            sennit::this_fiber::yield();
                                            ++ended;
                                        });
            EXPECT_EQ(ended, 60);
            EXPECT_EQ(too_early, 0);
        }
    });
}

TEST_P(map_concurrent, endless_input_ends_by_error_of_call) {
    runtime.run([] {
        std::atomic<int> ran{0};
        EXPECT_THROW(sennit::for_each_concurrent(std::views::iota(0), 4,
                                                 [&](int n) {
                                                     ++ran;
                                                     if (n == 50) throw std::runtime_error("stop");
                                                 }),
                     std::runtime_error);
        EXPECT_GE(ran, 1);
    });
}

// The error reaches the caller although the channel gives no element any more.
TEST_P(map_concurrent, error_ends_blocked_read_of_input) {
    runtime.run([] {
        sennit::channel<int> input(4);
        (void)input.push(1);
        (void)input.push(2);
        try {
            sennit::for_each_concurrent(input, 4, [](int n) {
                if (n == 1) sennit::event().wait(); // cancelled by the error
                let_others_run();
                throw std::runtime_error("mine");
            });
            ADD_FAILURE();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "mine");
        }
    });
}

TEST_P(map_concurrent, channel_is_read_until_it_closes) {
    runtime.run([] {
        sennit::channel<std::unique_ptr<int>> input;
        sennit::fiber sender([&] {
            for (int i = 1; i <= 100; ++i) (void)input.push(std::make_unique<int>(i));
            input.close();
        });
        const std::vector<int> out =
            sennit::map_concurrent(input, 5, [](std::unique_ptr<int> n) { return *n; });
        EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0), 5050);
        EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
    });
}

TEST_P(map_concurrent, exception_of_input_cancels_calls_and_is_thrown) {
    const auto failing = []() -> sennit::generator<int> {
        co_yield 1;
        co_yield 2;
        throw std::logic_error("input");
    };
    runtime.run([&] {
        std::atomic<int> inside{0};
        EXPECT_THROW(sennit::for_each_concurrent(failing(), 4,
                                                 [&](int) {
                                                     ++inside;
                                                     try {
                                                         sennit::event().wait();
                                                     } catch (const sennit::cancelled&) {
                                                         --inside;
                                                         throw;
                                                     }
                                                 }),
                     std::logic_error);
        EXPECT_EQ(inside, 0);
    });
}

TEST_P(map_concurrent, time_limit_ends_calls_and_wait_for_place) {
    runtime.run([] {
        std::atomic<int> inside{0};
        EXPECT_THROW(sennit::with_timeout(1ms,
                                          [&] {
                                              sennit::for_each_concurrent(
                                                  std::views::iota(0), 3, [&](int) {
                                                      ++inside;
                                                      try {
                                                          sennit::event().wait();
                                                      } catch (const sennit::cancelled&) {
                                                          --inside;
                                                          throw;
                                                      }
                                                  });
                                          }),
                     sennit::timed_out);
        EXPECT_EQ(inside, 0);
        // Also when only the input is cut short.
        sennit::channel<int> empty;
        EXPECT_THROW(
            sennit::with_timeout(1ms, [&] { sennit::for_each_concurrent(empty, 3, [](int) {}); }),
            sennit::timed_out);
        // The limit does not reach what follows.
        EXPECT_EQ(sennit::map_concurrent(std::views::iota(0, 2), 1, [](int n) { return n; }),
                  (std::vector<int>{0, 1}));
    });
}

TEST_P(map_concurrent, calls_nest) {
    runtime.run([] {
        const auto sums = sennit::map_concurrent(std::views::iota(1, 9), 3, [](int n) {
            const auto parts = sennit::map_concurrent(std::views::iota(0, n), 2, [](int k) {
                sennit::this_fiber::yield();
                return k;
            });
            return std::accumulate(parts.begin(), parts.end(), 0);
        });
        EXPECT_EQ(sums, (std::vector<int>{0, 1, 3, 6, 10, 15, 21, 28}));
    });
}

} // namespace
