// SPDX-License-Identifier: Apache-2.0
// Tests loops that yield by themselves. The runtime has one worker and no watchdog, so a loop that
// did not yield would hang its test.
#include <sennit/channel.hpp>
#include <sennit/checkpoints.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/nursery.hpp>
#include <sennit/this_fiber.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <list>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class checkpoints : public testing::Test {
protected:
    sennit::runtime runtime{{.workers = 1, .max_spare_workers = 0}};
};

// Two fibers alternate by a counter. Neither of them yields or blocks explicitly.
TEST_F(checkpoints, two_spinning_fibers_alternate) {
    constexpr int turns = 50;
    std::atomic<int> turn{0};
    const auto spin = [&](int me) {
        for (int i = 0; i < turns; ++i) {
            SENNIT_WHILE(turn.load() % 2 != me) {}
            ++turn;
        }
    };
    sennit::fiber a({.runtime = &runtime}, spin, 0), b({.runtime = &runtime}, spin, 1);
    a.join(), b.join();
    EXPECT_EQ(turn, 2 * turns);
}

// Each form of the loop waits for an event that only another fiber can cause.
TEST_F(checkpoints, every_form_of_loop_yields) {
    runtime.run([] {
        const auto until_set = [](auto&& loop) {
            std::atomic<bool> set{false};
            sennit::fiber setter([&] { set = true; });
            loop(set);
            EXPECT_TRUE(set.load());
        };
        until_set([](std::atomic<bool>& set) {
            SENNIT_FOR(int i = 0; !set.load(); i = i < 10 ? i + 1 : 0) {}
        });
        until_set([](std::atomic<bool>& set) {
            SENNIT_WHILE(!set.load()) {}
        });
        until_set([](std::atomic<bool>& set) {
            SENNIT_FOR(int each : sennit::checkpointed(std::views::iota(0))) {
                if (set.load()) break;
                (void)each;
            }
        });
        until_set([](std::atomic<bool>& set) {
            for (const int each : sennit::checkpointed(std::views::iota(0), 1us)) {
                if (set.load()) break;
                (void)each;
            }
        });
        until_set([](std::atomic<bool>& set) {
            for (sennit::checkpoints look(1us); !set.load();) look();
        });
    });
}

TEST_F(checkpoints, loop_lets_timers_and_outside_work_run) {
    runtime.run([this] {
        std::atomic<bool> woken{false}, posted{false};
        sennit::fiber sleeper([&] {
            sennit::this_fiber::sleep_for(1ms);
            woken = true;
        });
        SENNIT_WHILE(!woken.load()) {}
        std::thread outside(
            [&] { sennit::fiber({.runtime = &runtime}, [&] { posted = true; }).join(); });
        SENNIT_WHILE(!posted.load()) {}
        outside.join();
    });
}

TEST_F(checkpoints, cancellation_ends_loop) {
    runtime.run([] {
        EXPECT_THROW(sennit::with_timeout(1ms,
                                          [] {
                                              SENNIT_WHILE(true) {}
                                          }),
                     sennit::timed_out);
        sennit::nursery family;
        family.start([] {
            SENNIT_WHILE(true) {}
        });
        family.cancel();
        family.join();
    });
}

// These passes take much longer than earlier passes, so the loop must read the clock soon again.
TEST_F(checkpoints, loop_adapts_to_slower_passes) {
    runtime.run([] {
        std::atomic<int> others{0};
        std::atomic<bool> end{false};
        sennit::fiber other([&] {
            while (!end.load()) {
                ++others;
                sennit::this_fiber::yield();
            }
        });
        int passes = 0;
        SENNIT_FOR(int i = 0; i < 20'000; ++i) { // Fast passes.
            ++passes;
        }
        const int before = others;
        SENNIT_FOR(int i = 0; i < 1; ++i) { // The loop is nested.
            SENNIT_WHILE(others.load() < before + 3) {
                const auto until = std::chrono::steady_clock::now() + 300us;
                while (std::chrono::steady_clock::now() < until) {
                }
            }
        }
        EXPECT_EQ(passes, 20'000);
        end = true;
    });
}

// ---- checkpointed loops behave like plain loops

TEST_F(checkpoints, checkpointed_loop_behaves_like_plain_loop) {
    std::vector<int> numbers(100);
    std::iota(numbers.begin(), numbers.end(), 0);
    int sum = 0;
    for (int& each : sennit::checkpointed(numbers)) sum += each++;
    EXPECT_EQ(sum, 4950);
    EXPECT_EQ(numbers.back(), 100); // The loop visits the elements themselves, not copies.
    sum = 0;
    for (const int each : sennit::checkpointed(std::list{1, 2, 3}))
        sum += each; // The loop keeps the range alive.
    EXPECT_EQ(sum, 6);
    for (const int each : sennit::checkpointed(std::vector<int>())) sum += each;
    EXPECT_EQ(sum, 6);
    sum = 0;
    SENNIT_FOR(int i = 0; i < 10; ++i) {
        if (i % 2 == 0) continue;
        if (i == 7) break;
        sum += i;
    }
    EXPECT_EQ(sum, 1 + 3 + 5);
    if (sum == 0)
        SENNIT_FOR(int i = 0; i < 10; ++i) sum = i;
    else
        sum = -1;
    EXPECT_EQ(sum, -1);
    static_assert(std::ranges::input_range<decltype(sennit::checkpointed(numbers))>);
}

} // namespace
