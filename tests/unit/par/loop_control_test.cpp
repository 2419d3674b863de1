// SPDX-License-Identifier: Apache-2.0
// Tests the options of the parallel algorithms, and their cancellation.
#include "oracle.hpp"

#include <sennit/event.hpp>
#include <sennit/nursery.hpp>
#include <sennit/with_timeout.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

namespace par = sennit::par;
using namespace std::chrono_literals;

// Counts the callers that are inside at the same time.
class crowd_meter {
public:
    void enter() {
        const int inside = ++inside_;
        int most = most_.load();
        while (inside > most && !most_.compare_exchange_weak(most, inside)) {
        }
        std::this_thread::yield();
        --inside_;
    }
    int most() const { return most_.load(); }

private:
    std::atomic<int> inside_{0};
    std::atomic<int> most_{0};
};

TEST(par_options, no_more_than_max_workers_run_an_algorithm) {
    sennit::runtime runtime({.workers = 8});
    runtime.run([] {
        for (unsigned most : {1u, 2u, 3u}) {
            const auto numbers = std::views::iota(0, 3000);
            const par::with limits{.max_workers = most};
            const par::with exact{.max_workers = most, .deterministic = true};
            crowd_meter loop, fold, search;
            std::atomic<int> visited{0};
            par::for_each(limits, numbers, [&](int) {
                loop.enter();
                ++visited;
            });
            EXPECT_EQ(visited.load(), 3000);
            const auto sum = par::transform_reduce(exact, numbers, 0, std::plus<>(), [&](int v) {
                fold.enter();
                return v;
            });
            EXPECT_EQ(sum, 3000 * 2999 / 2);
            EXPECT_EQ(par::find_if(limits, numbers,
                                   [&](int) {
                                       search.enter();
                                       return false;
                                   }),
                      numbers.end());
            EXPECT_LE(loop.most(), static_cast<int>(most));
            EXPECT_LE(fold.most(), static_cast<int>(most));
            EXPECT_LE(search.most(), static_cast<int>(most));
        }
    });
}

// The test hangs if a limit of two workers lets only one of them work.
TEST(par_options, max_workers_lets_that_number_work) {
    sennit::runtime runtime({.workers = 3});
    runtime.run([] {
        for (int round = 0; round < 20; ++round) {
            std::atomic<int> started{0};
            par::for_each_n({.max_workers = 2}, 2, [&](std::size_t) {
                ++started;
                while (started.load() < 2) std::this_thread::yield();
            });
            started = 0;
            const auto two = std::views::iota(0, 2);
            (void)par::find_if({.max_workers = 2}, two, [&](int) {
                ++started;
                while (started.load() < 2) std::this_thread::yield();
                return false;
            });
        }
    });
}

TEST(par_options, limited_loop_reports_exception_of_lowest_element) {
    on_workers([] {
        for (unsigned most : {1u, 2u, 5u}) {
            const auto numbers = std::views::iota(0, 20'000);
            EXPECT_EQ(oracle::error_of([&] {
                          par::for_each({.max_workers = most}, numbers, oracle::throws_from(4321));
                      }),
                      "4321");
        }
    });
}

TEST(par_options, limit_of_one_worker_groups_like_serial_loop) {
    on_workers([] {
        std::string expected;
        for (int i = 0; i < 2000; ++i) expected = '(' + expected + std::to_string(i % 10) + ')';
        const auto enclose = [](const std::string& a, const std::string& b) {
            return '(' + a + b + ')';
        };
        const auto digit = [](int i) { return std::to_string(i % 10); };
        EXPECT_EQ(par::transform_reduce({.max_workers = 1}, std::views::iota(0, 2000),
                                        std::string(), enclose, digit),
                  expected);
    });
}

TEST(par_options, options_come_as_braces_as_grain_and_as_deterministic) {
    std::vector<int> values(1000, 1);
    par::for_each({.min_grain = 4, .max_grain = 8}, values, [](int& v) { ++v; });
    par::for_each(par::grain{4}, values.begin(), values.end(), [](int& v) { ++v; });
    EXPECT_EQ(par::reduce(par::deterministic, values, 0), 3000);
    EXPECT_EQ(par::reduce({.max_workers = 1, .deterministic = true}, values, 0), 3000);
    // An algorithm is an object, which other functions can take.
    const auto apply = [&](auto algorithm) { return algorithm(values, 3); };
    EXPECT_EQ(apply(par::count), 1000);
    EXPECT_EQ(apply(par::find), values.begin());
}

TEST(par_cancellation, cancelled_loop_drops_the_rest_and_throws) {
    on_workers([] {
        std::atomic<int> visited{0};
        sennit::event begun;
        bool threw = false;
        sennit::nursery jobs;
        jobs.start([&] {
            try {
                par::for_each({.max_grain = 64}, std::views::iota(0, 100'000'000), [&](int) {
                    if (++visited == 1000) begun.set();
                    if (visited.load(std::memory_order_relaxed) % 64 == 0)
                        sennit::this_fiber::yield();
                });
            } catch (const sennit::cancelled&) {
                threw = true;
                throw;
            }
        });
        begun.wait();
        jobs.cancel();
        jobs.join();
        EXPECT_TRUE(threw);
        EXPECT_LT(visited.load(), 100'000'000);
    });
}

TEST(par_cancellation, loop_in_cancelled_scope_runs_nothing) {
    on_workers([] {
        int threw = 0;
        const auto expect_cancelled = [&](auto&& call) {
            try {
                call();
            } catch (const sennit::cancelled&) {
                ++threw;
            }
        };
        sennit::nursery jobs;
        jobs.start([&] {
            jobs.cancel();
            const auto numbers = std::views::iota(0, 1000);
            std::vector<int> out(1000, -1);
            expect_cancelled([&] { par::copy(numbers, out); });
            expect_cancelled([&] { par::for_each_n(1, [](std::size_t) { FAIL(); }); });
            expect_cancelled([&] { (void)par::reduce(numbers, 0); });
            expect_cancelled([&] { (void)par::reduce(par::deterministic, numbers, 0); });
            expect_cancelled([&] { (void)par::find(numbers, 1); });
            EXPECT_EQ(std::ranges::count(out, -1), 1000);
        });
        jobs.join();
        EXPECT_EQ(threw, 5);
    });
}

// Each element waits for an event that never comes. Without a scope of its own, a stolen chunk
// would wait for ever.
TEST(par_cancellation, time_limit_ends_waits_in_stolen_chunks) {
    on_workers([] {
        sennit::event never;
        const auto wait_in_all = [&] {
            par::for_each_n({.max_grain = 1}, 100, [&](std::size_t) { never.wait(); });
        };
        EXPECT_THROW(sennit::with_timeout(2ms, wait_in_all), sennit::timed_out);
        const auto wait_in_search = [&] {
            (void)par::any_of(std::views::iota(0, 100), [&](int) {
                never.wait();
                return false;
            });
        };
        EXPECT_THROW(sennit::with_timeout(2ms, wait_in_search), sennit::timed_out);
    });
}

TEST(par_cancellation, error_of_an_element_wins_over_nothing_dropped) {
    on_workers([] {
        const auto loop = [] { par::for_each(std::views::iota(0, 1000), oracle::throws_from(17)); };
        EXPECT_EQ(oracle::error_of([&] { sennit::with_timeout(1h, loop); }), "17");
    });
}

} // namespace
