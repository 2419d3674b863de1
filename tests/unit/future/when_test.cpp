// SPDX-License-Identifier: Apache-2.0
// when_all, when_any, wait_all, wait_first_success and wait_all_values.
#include "support.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <list>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::future;
using sennit::future_status;
using sennit::promise;
using sennit::shared_future;

struct many {
    explicit many(std::size_t n) : made(n) {
        for (promise<counted>& each : made) futures.push_back(each.get_future());
    }
    std::vector<promise<counted>> made;
    std::vector<future<counted>> futures;
};

class when : public with_workers {};
SENNIT_FOR_WORKERS(when);

TEST_P(when, when_all_of_no_futures_is_ready) {
    future<std::tuple<>> none = sennit::when_all();
    EXPECT_EQ(none.wait_for(0s), future_status::ready);
    EXPECT_TRUE(sennit::when_all(std::vector<future<int>>()).get().empty());
}

TEST_P(when, when_all_is_ready_when_the_last_future_is) {
    runtime.run([] {
        for (const std::size_t count : {1u, 2u, 100u}) {
            many sources(count);
            future<std::vector<future<counted>>> all = sennit::when_all(std::move(sources.futures));
            for (std::size_t i = count; i-- > 0;) {
                EXPECT_EQ(all.wait_for(0s), future_status::timeout);
                sources.made[i].set_value(counted(static_cast<int>(i)));
            }
            std::vector<future<counted>> ready = all.get();
            ASSERT_EQ(ready.size(), count);
            for (std::size_t i = 0; i < count; ++i)
                EXPECT_EQ(ready[i].get().value, static_cast<int>(i));
        }
    });
}

TEST_P(when, when_all_takes_different_futures_and_shares_shared_futures) {
    runtime.run([] {
        promise<int> late;
        const shared_future<int> shared = late.get_future();
        auto all = sennit::when_all(sennit::make_ready_future(), shared,
                                    sennit::make_exceptional_future<char>(std::runtime_error("x")),
                                    shared);
        static_assert(
            std::is_same_v<decltype(all), future<std::tuple<future<void>, shared_future<int>,
                                                            future<char>, shared_future<int>>>>);
        EXPECT_TRUE(shared.valid());
        EXPECT_EQ(all.wait_for(0s), future_status::timeout);
        late.set_value(4);
        auto [nothing, number, error, again] = all.get();
        nothing.get();
        EXPECT_EQ(number.get() + again.get(), 8);
        EXPECT_THROW(error.get(), std::runtime_error);
    });
}

TEST_P(when, when_all_and_when_any_move_or_share_ranges) {
    runtime.run([] {
        std::list<future<int>> sole;
        sole.push_back(sennit::make_ready_future(1));
        sole.push_back(sennit::make_ready_future(2));
        EXPECT_EQ(sennit::when_all(sole.begin(), sole.end()).get()[1].get(), 2);
        EXPECT_FALSE(sole.front().valid());
        const std::vector<shared_future<int>> shared(3, sennit::make_ready_future(5).share());
        EXPECT_EQ(sennit::when_all(shared.begin(), shared.end()).get()[2].get(), 5);
        EXPECT_EQ(sennit::when_any(shared.begin(), shared.end()).get().futures.size(), 3u);
        EXPECT_TRUE(shared.front().valid());
    });
}

TEST_P(when, when_all_when_any_and_wait_all_refuse_futures_without_state) {
    std::vector<future<int>> futures(2);
    futures[0] = sennit::make_ready_future(1);
    EXPECT_EQ(code_of([&] { (void)sennit::when_all(std::move(futures)); }), no_state);
    EXPECT_EQ(code_of([&] { (void)sennit::when_any(future<int>(), sennit::make_ready_future(1)); }),
              no_state);
    EXPECT_EQ(code_of([&] { sennit::wait_all(future<int>()); }), no_state);
}

TEST_P(when, when_any_of_no_futures_is_ready_and_names_none) {
    EXPECT_EQ(sennit::when_any().get().index, static_cast<std::size_t>(-1));
    const auto [index, futures] = sennit::when_any(std::vector<future<int>>()).get();
    EXPECT_EQ(index, static_cast<std::size_t>(-1));
    EXPECT_TRUE(futures.empty());
}

TEST_P(when, when_any_is_ready_when_the_first_future_is_and_keeps_the_rest) {
    runtime.run([] {
        for (const std::size_t count : {1u, 2u, 100u}) {
            many sources(count);
            auto any = sennit::when_any(std::move(sources.futures));
            EXPECT_EQ(any.wait_for(0s), future_status::timeout);
            const std::size_t first = count / 2;
            sources.made[first].set_value(counted(7));
            auto [index, futures] = any.get();
            EXPECT_EQ(index, first);
            EXPECT_EQ(futures[first].get().value, 7);
            for (std::size_t i = 0; i < count; ++i) {
                if (i == first) continue;
                EXPECT_EQ(futures[i].wait_for(0s), future_status::timeout);
                sources.made[i].set_value(counted(1));
                EXPECT_EQ(futures[i].get().value, 1);
            }
        }
    });
}

TEST_P(when, when_any_counts_errors_as_ready_and_takes_different_futures) {
    runtime.run([] {
        promise<int> never;
        auto [index, futures] =
            sennit::when_any(never.get_future(),
                             sennit::make_exceptional_future<void>(std::runtime_error("x")))
                .get();
        EXPECT_EQ(index, 1u);
        EXPECT_FALSE(std::get<0>(futures).wait_for(0s) == future_status::ready);
        EXPECT_THROW(std::get<1>(futures).get(), std::runtime_error);
    });
}

TEST_P(when, when_any_leaves_nothing_behind_in_futures_that_are_not_ready) {
    promise<int> much_later;
    const shared_future<int> stop = much_later.get_future();
    runtime.run([&] {
        for (int i = 0; i < 100; ++i) {
            promise<counted> next;
            auto any = sennit::when_any(stop, next.get_future());
            next.set_value(counted(i));
            any.wait(); // `any` is dropped, with the futures in it
        }
    });
    EXPECT_EQ(counted::alive(), 0);
    much_later.set_value(1);
}

TEST_P(when, racing_sources_decide_once) {
    for (int round = 0; round < 10'000; ++round) {
        promise<int> a, b;
        future<int> of_a = a.get_future(), of_b = b.get_future();
        runtime.run([&] {
            auto first = sennit::async([&] { a.set_value(0); });
            auto second = sennit::async([&] { b.set_value(1); });
            if (round % 2) {
                auto [index, futures] = sennit::when_any(std::move(of_a), std::move(of_b)).get();
                const int value =
                    index == 0 ? std::get<0>(futures).get() : std::get<1>(futures).get();
                EXPECT_EQ(value, static_cast<int>(index));
            } else {
                auto [x, y] = sennit::when_all(std::move(of_a), std::move(of_b)).get();
                EXPECT_EQ(x.get() + y.get(), 1);
            }
            sennit::wait_all(first, second);
        });
    }
}

TEST_P(when, nested_combinations_are_ready_immediately) {
    runtime.run([] {
        promise<int> made;
        const shared_future<int> shared = made.get_future();
        auto whole = sennit::when_all(sennit::when_any(shared, sennit::when_all(shared)),
                                      sennit::when_all(shared, shared));
        made.set_value(3);
        EXPECT_EQ(whole.wait_for(0s), future_status::ready);
    });
}

TEST_P(when, wait_all_returns_when_all_are_ready_and_throws_nothing) {
    runtime.run([] {
        std::vector<future<int>> all;
        for (int i = 0; i < 50; ++i)
            all.push_back(sennit::async([i]() -> int { return i % 2 ? throw i : i; }));
        sennit::wait_all(all);
        sennit::wait_all(all.begin(), all.end());
        sennit::wait_all(all[0], sennit::make_ready_future());
        sennit::wait_all();
        for (const future<int>& each : all) EXPECT_EQ(each.wait_for(0s), future_status::ready);
    });
}

class waits_for_values : public with_workers {};
SENNIT_FOR_WORKERS(waits_for_values);

TEST_P(waits_for_values, wait_first_success_passes_over_errors) {
    runtime.run([] {
        promise<int> never, late;
        std::vector<future<int>> attempts;
        attempts.push_back(never.get_future());
        attempts.push_back(sennit::make_exceptional_future<int>(1));
        attempts.push_back(late.get_future());
        const sennit::fiber setter([&] { late.set_value(6); });
        EXPECT_EQ(sennit::wait_first_success(std::move(attempts)), 6);
    });
}

TEST_P(waits_for_values, wait_first_success_throws_all_errors_in_order_without_a_success) {
    runtime.run([] {
        std::vector<future<void>> attempts;
        for (int i = 0; i < 20; ++i) attempts.push_back(sennit::async([i] { throw i; }));
        try {
            sennit::wait_first_success(std::move(attempts));
            ADD_FAILURE() << "nothing was thrown";
        } catch (const sennit::exception_list& errors) {
            ASSERT_EQ(errors.size(), 20u);
            int expected = 0;
            for (const std::exception_ptr& each : errors) {
                try {
                    std::rethrow_exception(each);
                } catch (int i) {
                    EXPECT_EQ(i, expected++);
                }
            }
            EXPECT_EQ(expected, 20);
        }
        try {
            sennit::wait_first_success(std::vector<future<int>>());
            ADD_FAILURE() << "nothing was thrown";
        } catch (const sennit::exception_list& errors) {
            EXPECT_EQ(errors.size(), 0u);
        }
    });
}

TEST_P(waits_for_values, wait_all_values_gives_values_in_order) {
    runtime.run([] {
        std::vector<future<int>> parts;
        std::vector<int> expected;
        for (int i = 0; i < 100; ++i) {
            parts.push_back(sennit::async([i] { return i; }));
            expected.push_back(i);
        }
        EXPECT_EQ(sennit::wait_all_values(std::move(parts)), expected);
        EXPECT_TRUE(sennit::wait_all_values(std::vector<future<int>>()).empty());
        sennit::wait_all_values(std::vector<future<void>>());
        int there = 0;
        std::vector<future<int&>> references;
        references.push_back(sennit::make_ready_future(std::ref(there)));
        EXPECT_EQ(&sennit::wait_all_values(std::move(references))[0].get(), &there);
    });
}

TEST_P(waits_for_values, first_error_ends_wait_all_values) {
    runtime.run([] {
        promise<int> never, failing;
        std::vector<future<int>> parts;
        parts.push_back(never.get_future());
        parts.push_back(sennit::make_ready_future(1));
        parts.push_back(failing.get_future());
        const sennit::fiber setter(
            [&] { failing.set_exception(std::make_exception_ptr(std::runtime_error("x"))); });
        EXPECT_THROW((void)sennit::wait_all_values(std::move(parts)), std::runtime_error);
    });
}

} // namespace
