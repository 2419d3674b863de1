// SPDX-License-Identifier: Apache-2.0
// select with futures: on_ready.
#include "channels.hpp"

#include <sennit/async.hpp>
#include <sennit/fiber.hpp>
#include <sennit/on_ready.hpp>
#include <sennit/promise.hpp>
#include <sennit/this_fiber.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class select_future : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, select_future, testing::Values(1u, 2u, 4u));

TEST_P(select_future, select_takes_the_ready_future) {
    runtime.run([] {
        sennit::promise<int> set, unset;
        auto ready = set.get_future(), other = unset.get_future();
        set.set_value(4);
        int got = 0;
        EXPECT_EQ(sennit::select(
                      sennit::on_ready(other, nothing),
                      sennit::on_ready(ready, [&](sennit::future<int>& it) { got = it.get(); })),
                  1u);
        EXPECT_EQ(got, 4);
        EXPECT_FALSE(ready.valid());
        EXPECT_TRUE(other.valid());
        bool fell_through = false;
        sennit::select(sennit::on_ready(other, nothing),
                       sennit::otherwise([&] { fell_through = true; }));
        EXPECT_TRUE(fell_through);
    });
}

TEST_P(select_future, select_waits_for_the_first_of_mixed_cases) {
    runtime.run([] {
        sennit::channel<int> silent;
        std::stop_source never;
        auto answer = sennit::async([] {
            sennit::this_fiber::yield();
            return std::string("here");
        });
        std::string got;
        const auto which = sennit::select(
            sennit::on_pop(silent, [](int) {}), sennit::on_stop(never.get_token(), nothing),
            sennit::on_ready(answer, [&](auto& it) { got = it.get(); }),
            sennit::after(1h, nothing));
        EXPECT_EQ(which, 2u);
        EXPECT_EQ(got, "here");
    });
}

TEST_P(select_future, select_leaves_futures_that_did_not_happen_unchanged) {
    runtime.run([] {
        sennit::promise<int> later;
        auto slow = later.get_future();
        EXPECT_EQ(sennit::select(sennit::on_ready(slow, nothing), sennit::after(0s, nothing)), 1u);
        EXPECT_THROW(
            sennit::with_timeout(1ms, [&] { sennit::select(sennit::on_ready(slow, nothing)); }),
            sennit::timed_out);
        later.set_value(7);
        EXPECT_EQ(slow.get(), 7);
    });
}

TEST_P(select_future, select_reports_errors_and_broken_promises) {
    runtime.run([] {
        auto failing = sennit::async([]() -> int { throw std::runtime_error("no"); });
        EXPECT_EQ(sennit::select(sennit::on_ready(
                      failing, [](auto& it) { EXPECT_THROW(it.get(), std::runtime_error); })),
                  0u);
        auto* given_up = new sennit::promise<void>;
        auto broken = given_up->get_future();
        sennit::fiber drops([&] { delete given_up; });
        EXPECT_EQ(sennit::select(sennit::on_ready(
                      broken, [](auto& it) { EXPECT_THROW(it.get(), std::future_error); })),
                  0u);
    });
}

TEST_P(select_future, many_selects_wait_for_one_shared_future) {
    sennit::promise<int> answer;
    const sennit::shared_future<int> shared = answer.get_future().share();
    std::atomic<int> sum{0};
    const auto waits = [&] {
        sennit::select(sennit::on_ready(
            shared, [&](const sennit::shared_future<int>& it) { sum += it.get(); }));
    };
    std::vector<sennit::fiber> fibers;
    for (int i = 0; i < 5; ++i)
        fibers.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, waits);
    std::thread outside(waits);
    answer.set_value(3);
    for (auto& one : fibers) one.join();
    outside.join();
    EXPECT_EQ(sum, 18);
}

TEST_P(select_future, select_refuses_future_without_state) {
    sennit::future<int> none;
    EXPECT_THROW(sennit::select(sennit::on_ready(none, nothing)), std::future_error);
}

// A value may arrive at the moment at which the wait ends.
TEST_P(select_future, select_of_future_and_channel_loses_no_value) {
    runtime.run([] {
        for (int round = 0; round < 2'000; ++round) {
            sennit::channel<int> words(1);
            sennit::promise<int> made;
            auto future = made.get_future();
            sennit::fiber pusher([&] { words.push(1); });
            sennit::fiber setter([&] { made.set_value(2); });
            int got = 0;
            const auto take = [&] {
                sennit::select(
                    sennit::when(future.valid(),
                                 sennit::on_ready(future, [&](auto& it) { got += it.get(); })),
                    sennit::on_pop(words, [&](int value) { got += value; }));
            };
            take();
            if (future.valid()) {
                sennit::select(sennit::on_ready(future, [&](auto& it) { got += it.get(); }));
                setter.join();
                pusher.join();
                got += got == 2 ? *words.pop() : 0;
            } else {
                got += *words.pop();
            }
            ASSERT_EQ(got, 3);
        }
    });
}

} // namespace
