// SPDX-License-Identifier: Apache-2.0
// async_generator, from_channel and into_channel.
#include "slow_tests.hpp"
#include "support.hpp"

#include <sennit/async_generator.hpp>
#include <sennit/channel.hpp>
#include <sennit/event.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using sennit::async_generator;
using sennit::block_on;
using sennit::task;

class async_generators : public with_workers {};
SENNIT_FOR_WORKERS(async_generators);

async_generator<int> count_to(int end) {
    for (int i = 0; i < end; ++i) {
        if (i % 3 == 1) co_await sennit::async_yield();
        co_yield i;
    }
}

task<long> sum_of(async_generator<int> all) {
    long sum = 0;
    while (int* one = co_await all.next()) sum += *one;
    EXPECT_EQ(co_await all.next(), nullptr); // It stays ended.
    co_return sum;
}

TEST_P(async_generators, yields_all_values_in_order) {
    const auto body = []() -> task<> {
        int expected = 0;
        async_generator<int> all = count_to(1000);
        while (int* one = co_await all.next()) EXPECT_EQ(*one, expected++);
        EXPECT_EQ(expected, 1000);
        EXPECT_EQ(co_await sum_of(count_to(100)), 4950);
        async_generator<int> none;
        EXPECT_EQ(co_await none.next(), nullptr);
        EXPECT_EQ(co_await sum_of(count_to(0)), 0);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(async_generators, a_million_values_take_no_stack) {
    runtime.run([] {
        constexpr int n = large(1'000'000);
        EXPECT_EQ(block_on(sum_of(count_to(n))), long{n} * (n - 1) / 2);
    });
}

TEST_P(async_generators, operands_are_copied_moved_or_handed_out) {
    const auto copies = []() -> async_generator<std::string> {
        std::string kept = "a string that is longer than its object";
        co_yield kept;
        EXPECT_EQ(kept, "a string that is longer than its object");
        co_yield std::move(kept);
    };
    const auto references = [](std::vector<int>& all) -> async_generator<int&> {
        for (int& one : all) co_yield one;
    };
    const auto constants = [](const std::string& one) -> async_generator<const std::string> {
        co_yield one;
    };
    const auto pointers = []() -> async_generator<std::unique_ptr<int>> {
        for (int i = 0; i < 3; ++i) {
            auto one = std::make_unique<int>(i);
            co_yield std::move(one);
        }
    };
    const auto body = [&]() -> task<> {
        async_generator<std::string> strings = copies();
        for (int i = 0; i < 2; ++i) {
            std::string* one = co_await strings.next();
            const std::string taken = std::move(*one);
            EXPECT_EQ(taken, "a string that is longer than its object");
        }
        EXPECT_EQ(co_await strings.next(), nullptr);
        std::vector<int> numbers{1, 2, 3};
        async_generator<int&> each = references(numbers);
        while (int* one = co_await each.next()) *one *= 2;
        EXPECT_EQ(numbers, (std::vector<int>{2, 4, 6}));
        const std::string there = "there";
        async_generator<const std::string> constant = constants(there);
        const std::string* here = co_await constant.next();
        EXPECT_EQ(here, &there);
        async_generator<std::unique_ptr<int>> owned = pointers();
        int sum = 0;
        while (std::unique_ptr<int>* one = co_await owned.next()) sum += **one;
        EXPECT_EQ(sum, 3);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(async_generators, exception_is_thrown_by_next_and_ends_generator) {
    const auto failing = []() -> async_generator<int> {
        co_yield 1;
        co_await sennit::async_yield();
        throw std::runtime_error("third");
    };
    const auto body = [&]() -> task<> {
        async_generator<int> all = failing();
        int* first = co_await all.next();
        EXPECT_EQ(*first, 1);
        bool thrown = false;
        try {
            co_await all.next();
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        EXPECT_TRUE(thrown);
        EXPECT_EQ(co_await all.next(), nullptr);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(async_generators, early_drop_destroys_locals) {
    auto token = std::make_shared<int>(0);
    const auto holding = [](std::shared_ptr<int> held) -> async_generator<int> {
        const std::shared_ptr<int> second = held;
        for (int i = 0;; ++i) co_yield i;
    };
    const auto body = [&]() -> task<> {
        async_generator<int> endless = holding(token);
        for (int i = 0; i < 3; ++i) co_await endless.next();
        EXPECT_EQ(token.use_count(), 3);
        endless = async_generator<int>();
        EXPECT_EQ(token.use_count(), 1);
        {
            const async_generator<int> never_begun = holding(token);
            EXPECT_EQ(token.use_count(), 2);
        }
        EXPECT_EQ(token.use_count(), 1);
    };
    runtime.run([&] { block_on(body()); });
}

TEST_P(async_generators, channels_are_sources_and_destinations) {
    const auto body = []() -> task<> {
        sennit::channel<int> middle(3);
        const auto produce = [&]() -> task<std::size_t> {
            const std::size_t count = co_await sennit::into_channel(count_to(500), middle);
            middle.close();
            co_return count;
        };
        const auto [count, sum] =
            co_await sennit::async_all(produce(), sum_of(sennit::from_channel(middle)));
        EXPECT_EQ(count, 500u);
        EXPECT_EQ(sum, 499 * 250);
        const std::size_t into_closed = co_await sennit::into_channel(count_to(5), middle);
        EXPECT_EQ(into_closed, 0u);
    };
    runtime.run([&] { block_on(body()); });
}

TEST(async_generator_misuse, second_next_ends_the_program) {
    const auto misuse = [] {
        sennit::runtime one({.workers = 1});
        one.run([] {
            sennit::event never;
            const auto stuck = [&never]() -> async_generator<int> {
                co_await never.async_wait();
                co_yield 1;
            };
            async_generator<int> all = stuck();
            const auto ask = [&all]() -> task<> { co_await all.next(); };
            const auto body = [&]() -> task<> { co_await sennit::async_all(ask(), ask()); };
            block_on(body());
        });
    };
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(misuse(), "SNT-245");
}

} // namespace
