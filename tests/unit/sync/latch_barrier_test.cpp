// SPDX-License-Identifier: Apache-2.0
// Tests latch and barrier.
#include "strands.hpp"

#include <sennit/barrier.hpp>
#include <sennit/event.hpp>
#include <sennit/latch.hpp>
#include <sennit/nursery.hpp>

#include <memory>

namespace {

class latch : public strands {};
SENNIT_BY_STRANDS(latch);
class barrier : public strands {};
SENNIT_BY_STRANDS(barrier);
class barrier_on : public on_workers {};
SENNIT_ON_WORKERS(barrier_on);

TEST(latch_alone, latch_is_open_at_zero) {
    static_assert(sennit::latch::max() > 1'000'000);
    sennit::latch none(0);
    EXPECT_TRUE(none.try_wait());
    none.wait();
    none.count_down(0);
    sennit::latch three(3);
    three.count_down();
    three.count_down(0);
    EXPECT_FALSE(three.try_wait());
    three.count_down(2);
    EXPECT_TRUE(three.try_wait());
    three.wait();
    three.wait();
    const sennit::latch constant(0);
    constant.wait();
    sennit::latch two(2);
    two.arrive_and_wait(2);
}

TEST_P(latch, latch_opens_after_last_arrival) {
    constexpr std::size_t count = 8;
    for (int round = 0; round < 50; ++round) {
        sennit::latch all(count);
        std::atomic<std::size_t> came{0};
        together(count, [&](std::size_t i) {
            ++came;
            if (i % 2 == 0) {
                all.arrive_and_wait();
            } else {
                all.count_down();
                all.wait();
            }
            EXPECT_EQ(came, count);
            EXPECT_TRUE(all.try_wait());
        });
    }
}

// The waiter destroys the latch while the last count_down may not have returned yet.
TEST_P(latch, waiter_destroys_latch_immediately) {
    for (int round = 0; round < race_rounds / 20; ++round) {
        auto done = std::make_unique<sennit::latch>(3);
        auto& here = *done;
        together(4, [&](std::size_t i) {
            if (i != 0) {
                here.count_down();
                return;
            }
            if (round % 2 == 0)
                yield_until([&] { return here.try_wait(); });
            else
                here.wait();
            done.reset();
        });
        EXPECT_EQ(done, nullptr);
    }
}

TEST_P(barrier, barrier_keeps_strands_in_step) {
    constexpr std::size_t count = 6;
    constexpr int phases = 200;
    std::array<int, count> at{};
    int completions = 0;
    // All strands wait, so this may read everything without a lock.
    const auto completion = [&]() noexcept {
        ++completions;
        for (int one : at) EXPECT_EQ(one, completions);
    };
    sennit::barrier step(static_cast<std::ptrdiff_t>(count), completion);
    together(count, [&](std::size_t i) {
        for (int phase = 1; phase <= phases; ++phase) {
            at[i] = phase;
            if (phase % 3 == 0) {
                auto token = step.arrive();
                if (phase % 2 == 0) sennit::this_fiber::yield();
                step.wait(std::move(token));
            } else {
                step.arrive_and_wait();
            }
            EXPECT_EQ(completions, phase) << "the completion ran once, before any strand continued";
        }
    });
    EXPECT_EQ(completions, phases);
}

TEST_P(barrier, barrier_does_not_expect_dropped_strands) {
    constexpr int count = 5;
    int completions = 0;
    sennit::barrier step(count, [&]() noexcept { ++completions; });
    together(count, [&](std::size_t i) {
        for (std::size_t phase = 0; phase < i; ++phase) step.arrive_and_wait();
        step.arrive_and_drop(); // One strand drops in each phase.
    });
    EXPECT_EQ(completions, count);
}

TEST(barrier_alone, arrive_counts_several_arrivals) {
    static_assert(sennit::barrier<>::max() > 1'000'000);
    int completions = 0;
    sennit::barrier step(5, [&]() noexcept { ++completions; });
    auto first = step.arrive(3);
    EXPECT_EQ(completions, 0);
    auto second = step.arrive(2);
    EXPECT_EQ(completions, 1);
    step.wait(std::move(first));
    step.wait(std::move(second));
    auto third = step.arrive(5);
    EXPECT_EQ(completions, 2);
    step.wait(std::move(third)); // The phase has ended already.
    sennit::barrier<> one(1);
    for (int i = 0; i < 10; ++i) one.arrive_and_wait();
}

TEST_P(barrier_on, cancelled_waiter_has_arrived) {
    runtime.run([] {
        sennit::barrier<> step(2);
        std::atomic<bool> about{false};
        sennit::nursery children;
        children.start([&] {
            about = true;
            step.arrive_and_wait();
        });
        yield_until(about);
        let_others_run();
        children.cancel();
        children.join();
        step.arrive_and_wait(); // Completes the phase.
        sennit::fiber other([&] { step.arrive_and_wait(); });
        step.arrive_and_wait();
        other.join();
    });
}

// A waiter sees all writes that the other strands made before they arrived.
TEST_P(latch, latch_publishes_earlier_writes) {
    constexpr std::size_t count = 6;
    for (int round = 0; round < 50; ++round) {
        std::array<int, count> written{};
        sennit::latch all(count);
        together(count, [&](std::size_t i) {
            written[i] = 1;
            all.arrive_and_wait();
            int sum = 0;
            for (int one : written) sum += one;
            EXPECT_EQ(sum, count);
        });
    }
}

TEST_F(sync_death_test, misuse_of_latch_or_barrier_ends_program) {
    EXPECT_DEATH(
        {
            sennit::latch one(1);
            one.count_down(2);
        },
        "sennit: \\[SNT-217\\] a latch was counted down below zero");
    EXPECT_DEATH(
        {
            sennit::barrier<> one(1);
            (void)one.arrive(2);
        },
        "sennit: \\[SNT-221\\] more arrivals at a barrier than it expects");
    EXPECT_DEATH(
        destroy_under_a_waiter(new sennit::latch(1), [](auto& it) { it.wait(); }),
        "sennit: \\[SNT-216\\] a latch was destroyed while a fiber or thread waits for it");
    EXPECT_DEATH(
        destroy_under_a_waiter(new sennit::barrier<>(2), [](auto& it) { it.arrive_and_wait(); }),
        "sennit: \\[SNT-219\\] a barrier was destroyed while a fiber or thread waits for it");
}

} // namespace
