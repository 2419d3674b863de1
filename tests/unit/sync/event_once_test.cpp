// SPDX-License-Identifier: Apache-2.0
// Tests event and call_once.
#include "strands.hpp"

#include <sennit/event.hpp>
#include <sennit/nursery.hpp>
#include <sennit/once.hpp>

#include <memory>
#include <stdexcept>

namespace {

using mode = sennit::event::mode;

class event : public strands {};
SENNIT_BY_STRANDS(event);
class event_on : public on_workers {};
SENNIT_ON_WORKERS(event_on);
class once : public strands {};
SENNIT_BY_STRANDS(once);

TEST(event_alone, manual_reset_event_stays_set) {
    sennit::event one;
    EXPECT_FALSE(one.try_wait());
    one.set();
    one.set();
    EXPECT_TRUE(one.try_wait());
    EXPECT_TRUE(one.try_wait());
    one.wait();
    EXPECT_TRUE(one.wait_for(0s));
    one.reset();
    EXPECT_FALSE(one.try_wait());
    EXPECT_TRUE(sennit::event(mode::manual_reset, true).try_wait());
}

TEST(event_alone, auto_reset_event_admits_one_waiter_per_set) {
    sennit::event one(mode::auto_reset, true);
    one.wait();
    EXPECT_FALSE(one.try_wait());
    one.set();
    one.set(); // No waiter has used the first one.
    EXPECT_TRUE(one.wait_for(0s));
    EXPECT_FALSE(one.try_wait());
    one.set();
    one.reset();
    EXPECT_FALSE(one.wait_until(std::chrono::steady_clock::now()));
}

TEST_P(event, manual_reset_event_admits_all_and_auto_reset_event_one) {
    constexpr std::size_t count = 6;
    sennit::event all;
    sennit::event each(mode::auto_reset);
    std::atomic<std::size_t> waiting{0}, passed{0}, again{0};
    together(count + 1, [&](std::size_t i) {
        if (i < count) {
            ++waiting;
            all.wait();
            ++passed;
            each.wait();
            ++again;
            return;
        }
        yield_until([&] { return waiting == count; });
        EXPECT_EQ(passed, 0u);
        all.set();
        yield_until([&] { return passed == count; });
        for (std::size_t k = 1; k <= count; ++k) {
            each.set();
            yield_until([&] { return again >= k; });
            let_others_run();
            EXPECT_EQ(again, k);
        }
        EXPECT_FALSE(each.try_wait());
    });
}

TEST_P(event, two_strands_pass_turn_back_and_forth) {
    std::array<sennit::event, 2> turn{sennit::event(mode::auto_reset, true),
                                      sennit::event(mode::auto_reset)};
    int steps = 0; // Accessed only by the strand that has the turn.
    together(2, [&](std::size_t me) {
        for (int k = 0; k < race_rounds / 10; ++k) {
            turn[me].wait();
            EXPECT_EQ(steps % 2, static_cast<int>(me));
            ++steps;
            turn[1 - me].set();
        }
    });
    EXPECT_EQ(steps, race_rounds / 10 * 2);
}

TEST_P(event_on, timed_wait_ends_at_deadline_and_not_before) {
    const auto body = [this] {
        for (const mode how : {mode::manual_reset, mode::auto_reset}) {
            sennit::event one(how);
            const auto began = std::chrono::steady_clock::now();
            EXPECT_FALSE(one.wait_for(2ms));
            EXPECT_GE(std::chrono::steady_clock::now() - began, 2ms);
            EXPECT_FALSE(one.wait_for(-1h));
            EXPECT_FALSE(one.wait_until(std::chrono::steady_clock::now() + 1ms));
            EXPECT_FALSE(one.wait_until(std::chrono::system_clock::now() + 1ms));
            sennit::fiber setter({.runtime = &runtime}, [&] { one.set(); });
            EXPECT_TRUE(one.wait_for(std::chrono::hours::max()));
            setter.join();
            EXPECT_EQ(one.try_wait(), how == mode::manual_reset);
        }
    };
    body();
    runtime.run(body);
}

// A set remains if a waiter was too late to use it.
TEST_P(event_on, race_against_deadlines_loses_no_set) {
    const auto body = [this] {
        sennit::event one(mode::auto_reset);
        for (int i = 0; i < race_rounds; ++i) {
            sennit::fiber setter({.runtime = &runtime}, [&] { one.set(); });
            const bool in_time = one.wait_for(soon(i));
            setter.join();
            ASSERT_NE(one.try_wait(), in_time) << "round " << i;
        }
    };
    runtime.run(body);
    body();
}

TEST_P(event_on, race_against_cancellations_loses_no_set) {
    runtime.run([] {
        sennit::event one(mode::auto_reset);
        for (int i = 0; i < race_rounds; ++i) {
            std::atomic<int> passed{0};
            sennit::nursery children;
            children.start([&] {
                one.wait();
                ++passed;
            });
            sennit::fiber setter([&] { one.set(); });
            if (i % 2 == 0) sennit::this_fiber::yield();
            children.cancel();
            children.join();
            setter.join();
            ASSERT_NE(one.try_wait(), passed == 1) << "round " << i;
        }
    });
}

TEST_P(event_on, waiter_destroys_event_immediately) {
    const auto body = [this] {
        for (int i = 0; i < race_rounds / 5; ++i) {
            auto one =
                std::make_unique<sennit::event>(i % 2 == 0 ? mode::manual_reset : mode::auto_reset);
            sennit::fiber setter({.runtime = &runtime}, [&it = *one] { it.set(); });
            one->wait();
            one.reset();
        }
    };
    runtime.run(body);
    body();
}

TEST_P(once, one_strand_calls_function_and_all_wait) {
    for (int round = 0; round < 100; ++round) {
        sennit::once_flag flag;
        int calls = 0, value = 0;
        together(6, [&](std::size_t) {
            sennit::call_once(
                flag,
                [&](int given) {
                    ++calls;
                    sennit::this_fiber::yield();
                    value = given;
                },
                7);
            EXPECT_EQ(value, 7);
        });
        EXPECT_EQ(calls, 1);
    }
}

TEST_P(once, throwing_call_does_not_count) {
    for (int round = 0; round < 50; ++round) {
        sennit::once_flag flag;
        int calls = 0; // The calls run one at a time.
        std::atomic<int> thrown{0};
        bool done = false;
        together(6, [&](std::size_t) {
            try {
                sennit::call_once(flag, [&] {
                    sennit::this_fiber::yield();
                    if (++calls <= 3) throw std::runtime_error("x");
                    done = true;
                });
                EXPECT_TRUE(done);
            } catch (const std::runtime_error&) {
                ++thrown;
            }
        });
        EXPECT_EQ(thrown, 3) << "each exception reaches the strand whose call threw it";
        EXPECT_EQ(calls, 4);
        sennit::call_once(flag, [] { ADD_FAILURE(); });
    }
}

TEST(once_alone, call_once_takes_moved_arguments) {
    sennit::once_flag flag;
    int seen = 0;
    sennit::call_once(
        flag, [&](std::unique_ptr<int> mine) { seen = *mine; }, std::make_unique<int>(4));
    EXPECT_EQ(seen, 4);
}

TEST_F(sync_death_test, destruction_of_event_with_waiter_ends_program) {
    EXPECT_DEATH(
        destroy_under_a_waiter(new sennit::event, [](auto& it) { it.wait(); }),
        "sennit: \\[SNT-211\\] an event was destroyed while a fiber or thread waits for it");
}

} // namespace
