// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace {

using namespace std::chrono_literals;

class regress_death_test : public testing::Test {
protected:
    void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

// A body that ended the unwinding in its own handler wrote its answer to an invalid address.
TEST(regress, destroyed_coroutine_writes_no_answer) {
    bool unwound = false;
    {
        sennit::coroutine<void, int> one([&](auto& self) {
            try {
                self.suspend(1);
            } catch (...) {
                unwound = true;
                return -1;
            }
            return 0;
        });
        EXPECT_EQ(one.resume(), 1);
    }
    EXPECT_TRUE(unwound);
}
TEST_F(regress_death_test, coroutine_with_an_answer_suspends_during_its_destruction) {
    const auto misuse = [] {
        sennit::coroutine<void, int> one([](auto& self) {
            try {
                self.suspend(1);
            } catch (...) {
                self.suspend(2);
            }
            return 0;
        });
        one.resume();
    };
    EXPECT_DEATH(misuse(),
                 "\\[SNT-303\\] a coroutine's body suspended while the coroutine is destroyed");
}

// On a thread that is not a worker a coroutine left a with_timeout open, and all later waits of the
// thread were cancelled.
TEST_F(regress_death_test, coroutine_suspends_inside_with_timeout_on_any_thread) {
    const auto leave_one_open = [] {
        sennit::coroutine<> one(
            [](auto& self) { sennit::with_timeout(1h, [&] { self.suspend(); }); });
        one.resume();
    };
    EXPECT_DEATH(leave_one_open(), "a coroutine is suspended inside a fork");
    EXPECT_DEATH(sennit::runtime({.workers = 1}).run(leave_one_open),
                 "a coroutine is suspended inside a fork");
}

// A nursery in a coroutine outlived the with_timeout of the strand that resumed the coroutine, and
// then used the memory of that with_timeout.
TEST_F(regress_death_test, coroutine_keeps_a_nursery_beyond_its_resumers_time_limit) {
    EXPECT_DEATH(sennit::runtime({.workers = 1}).run([] {
        sennit::coroutine<> one([](auto& self) {
            sennit::nursery family;
            self.suspend();
        });
        sennit::with_timeout(1h, [&] { one.resume(); });
    }),
                 "ended before a nursery that was made in it");
}
TEST(regress, coroutine_keeps_a_nursery) {
    sennit::runtime runtime({.workers = 2});
    runtime.run([] {
        int sum = 0;
        sennit::coroutine<> one([&](auto& self) {
            sennit::nursery family;
            family.start([&] { sum += 1; });
            self.suspend();
            family.join();
            sum += 1;
        });
        one.resume();
        one.resume();
        EXPECT_EQ(sum, 2);
    });
}

// Neither a time limit nor a nursery's cancellation reached a job that another runtime ran for the
// waiting fiber.
TEST(regress, time_limit_reaches_a_job_of_another_runtime) {
    sennit::runtime io({.workers = 1}), compute({.workers = 1});
    const auto body = [&] {
        EXPECT_THROW(sennit::with_timeout(1ms,
                                          [&] {
                                              io.run([] {
                                                  sennit::event never;
                                                  never.wait();
                                              });
                                          }),
                     sennit::timed_out);
    };
    body();
    std::thread(body).join();
    compute.run(body);
    compute.run([&] {
        sennit::event begun;
        bool cancelled = false;
        sennit::nursery family;
        family.start([&] {
            try {
                io.run([&] {
                    begun.set();
                    sennit::event never;
                    never.wait();
                });
            } catch (const sennit::cancelled&) {
                cancelled = true;
                throw;
            }
        });
        begun.wait();
        family.cancel();
        family.join();
        EXPECT_TRUE(cancelled);
    });
}

// A deadline some millennia in the past wrapped around, and the wait lasted.
TEST(regress, deadline_in_the_distant_past_ends_a_wait) {
    sennit::event never;
    EXPECT_FALSE(never.wait_for(std::chrono::hours(-3'000'000)));
    EXPECT_FALSE(never.wait_for(std::chrono::hours::min()));
}

} // namespace
