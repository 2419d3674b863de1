// SPDX-License-Identifier: Apache-2.0
// Tests single_flight: sharing, exceptions, cancelled leaders, lifetimes.
#include "on_workers.hpp"

#include <sennit/event.hpp>
#include <sennit/nursery.hpp>
#include <sennit/single_flight.hpp>
#include <sennit/with_timeout.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;

class single_flight : public on_workers {};
SENNIT_ON_WORKERS(single_flight);

TEST_P(single_flight, concurrent_callers_share_one_computation) {
    const auto body = [&] {
        sennit::single_flight<std::string, int> calls;
        std::atomic<int> computed{0}, asking{0};
        sennit::event go_on;
        sennit::nursery tasks;
        for (int i = 0; i < 10; ++i)
            tasks.start({.runtime = &runtime}, [&] {
                ++asking;
                EXPECT_EQ(calls.get("key",
                                    [&] {
                                        ++computed;
                                        go_on.wait();
                                        return 42;
                                    }),
                          42);
            });
        yield_until([&] { return asking == 10 && computed == 1; });
        EXPECT_EQ(calls.get("other", [] { return 1; }), 1);
        go_on.set();
        tasks.join();
        // A caller that comes after the result computes again.
        EXPECT_GE(computed, 1);
        EXPECT_EQ(calls.size(), 0u) << "without a lifetime nothing is kept";
        EXPECT_EQ(calls.get("key", [] { return 7; }), 7);
    };
    runtime.run(body);
    body();
}

TEST_P(single_flight, callers_share_exception_which_is_not_kept) {
    runtime.run([] {
        sennit::single_flight<int, int> calls({.lifetime = 1h});
        std::atomic<int> computed{0}, asking{0}, failed{0};
        sennit::nursery tasks;
        for (int i = 0; i < 5; ++i)
            tasks.start([&] {
                ++asking;
                try {
                    (void)calls.get(1, [&]() -> int {
                        ++computed;
                        yield_until([&] { return asking == 5; });
                        let_others_run();
                        throw std::runtime_error("x");
                    });
                } catch (const std::runtime_error&) {
                    ++failed;
                }
            });
        tasks.join();
        EXPECT_EQ(failed, 5);
        EXPECT_EQ(calls.size(), 0u);
        EXPECT_EQ(calls.get(1, [] { return 2; }), 2);
    });
}

// In Go's singleflight all callers would get the cancellation of the first one.
TEST_P(single_flight, waiting_caller_takes_over_from_cancelled_leader) {
    runtime.run([] {
        sennit::single_flight<int, int> calls;
        std::atomic<bool> leads{false}, asks{false};
        std::atomic<int> got{0};
        sennit::nursery leader, follower;
        leader.start([&] {
            (void)calls.get(1, [&]() -> int {
                leads = true;
                sennit::event().wait();
                return 0;
            });
        });
        yield_until(leads);
        for (int i = 0; i < 3; ++i)
            follower.start([&] {
                asks = true;
                got += calls.get(1, [] { return 5; });
            });
        yield_until(asks);
        let_others_run();
        leader.cancel();
        leader.join();
        follower.join();
        EXPECT_EQ(got, 15);
    });
}

TEST_P(single_flight, waiting_caller_can_be_cancelled) {
    runtime.run([] {
        sennit::single_flight<int, int> calls;
        sennit::event go_on;
        std::atomic<bool> leads{false};
        sennit::nursery leader;
        leader.start([&] {
            EXPECT_EQ(calls.get(1,
                                [&] {
                                    leads = true;
                                    go_on.wait();
                                    return 3;
                                }),
                      3);
        });
        yield_until(leads);
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { (void)calls.get(1, [] { return 4; }); }),
                     sennit::timed_out);
        go_on.set();
        leader.join();
    });
}

TEST_P(single_flight, lifetime_keeps_results) {
    runtime.run([] {
        sennit::single_flight<int, std::string> cache(
            {.lifetime = std::chrono::nanoseconds::max()});
        int computed = 0;
        const auto name = [&] {
            ++computed;
            return std::string("n");
        };
        for (int i = 0; i < 100; ++i) EXPECT_EQ(cache.get(i % 10, name), "n");
        EXPECT_EQ(computed, 10);
        EXPECT_EQ(cache.size(), 10u);
        EXPECT_TRUE(cache.erase(3));
        EXPECT_FALSE(cache.erase(3));
        EXPECT_EQ(cache.get(3, name), "n");
        EXPECT_EQ(computed, 11);
        cache.clear();
        EXPECT_EQ(cache.size(), 0u);
    });
}

TEST_P(single_flight, old_results_are_computed_again_and_removed) {
    runtime.run([] {
        sennit::single_flight<int, int> cache({.lifetime = 1ns});
        int computed = 0;
        for (int i = 0; i < 1000; ++i) {
            (void)cache.get(i, [&] { return ++computed; });
            sennit::this_fiber::sleep_for(2ns);
        }
        EXPECT_LE(cache.size(), 64u) << "entries that are too old do not gather";
        const int before = computed;
        (void)cache.get(999, [&] { return ++computed; });
        EXPECT_EQ(computed, before + 1);
    });
}

TEST_P(single_flight, erase_during_computation_starts_another_one) {
    runtime.run([] {
        sennit::single_flight<int, int> cache({.lifetime = 1h});
        sennit::event go_on;
        std::atomic<bool> leads{false};
        sennit::nursery tasks;
        tasks.start([&] {
            EXPECT_EQ(cache.get(1,
                                [&] {
                                    leads = true;
                                    go_on.wait();
                                    return 1;
                                }),
                      1);
        });
        yield_until(leads);
        EXPECT_TRUE(cache.erase(1));
        EXPECT_EQ(cache.get(1, [] { return 2; }), 2);
        go_on.set();
        tasks.join();
        EXPECT_EQ(cache.get(1, [] { return 3; }), 2) << "the late result replaces nothing";
    });
}

TEST_P(single_flight, race_of_callers) {
    sennit::single_flight<int, std::shared_ptr<int>> calls;
    runtime.run([&] {
        sennit::nursery tasks;
        for (int k = 0; k < 4; ++k)
            tasks.start([&] {
                for (int i = 0; i < race_rounds / 10; ++i) {
                    const int key = i % 3;
                    const auto got = calls.get(key, [&] { return std::make_shared<int>(key); });
                    ASSERT_EQ(*got, key);
                }
            });
        tasks.join();
    });
    EXPECT_EQ(calls.size(), 0u);
}

} // namespace
