// SPDX-License-Identifier: Apache-2.0
// co_await of senders in tasks: results, errors, cancellation, where the task continues.
#include "support.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

namespace {

using sennit::block_on;
using sennit::task;

class awaits : public with_workers {
protected:
    runtime_scheduler workers{runtime};
};
SENNIT_FOR_WORKERS(awaits);

TEST_P(awaits, values_are_nothing_one_or_a_tuple) {
    const auto body = [this]() -> task<int> {
        auto none = ex::schedule(workers);
        co_await std::move(none);
        auto box = ex::just(std::make_unique<int>(1));
        std::unique_ptr<int> one = co_await std::move(box);
        auto pair = ex::just(2, std::string("three"));
        std::tuple<int, std::string> two = co_await std::move(pair);
        co_return *one + std::get<0>(two) + static_cast<int>(std::get<1>(two).size());
    };
    EXPECT_EQ(runtime.run([&] { return block_on(body()); }), 1 + 2 + 5);
}

TEST_P(awaits, lvalue_sender_may_be_awaited_again) {
    const auto body = []() -> task<int> {
        const auto same = ex::just(4);
        const int first = co_await same;
        const int second = co_await same;
        co_return first + second;
    };
    EXPECT_EQ(runtime.run([&] { return block_on(body()); }), 8);
}

template <class S>
task<> await_it(S sender) {
    co_await std::move(sender);
}

TEST_P(awaits, errors_are_thrown_and_a_stop_is_cancelled) {
    runtime.run([] {
        EXPECT_THROW(
            block_on(await_it(ex::just_error(std::make_exception_ptr(std::logic_error("x"))))),
            std::logic_error);
        EXPECT_THROW(
            block_on(await_it(ex::just_error(std::make_error_code(std::errc::connection_refused)))),
            std::system_error);
        EXPECT_THROW(block_on(await_it(ex::just_error(17))), int);
        EXPECT_THROW(block_on(await_it(ex::just_stopped())), sennit::cancelled);
    });
}

TEST_P(awaits, task_continues_in_its_own_runtime) {
    sennit::runtime other({.workers = 1});
    gate open;
    const auto body = [&]() -> task<int> {
        auto wanted = open.get();
        const int value = co_await std::move(wanted);
        EXPECT_EQ(sennit::sched::current_runtime(), &runtime.core());
        auto elsewhere = ex::schedule(runtime_scheduler(other));
        co_await std::move(elsewhere);
        EXPECT_EQ(sennit::sched::current_runtime(), &runtime.core());
        co_return value;
    };
    auto result = runtime.run([&] { return sennit::spawn(body()); });
    open.started.wait();
    EXPECT_EQ(open.scheduler, workers);
    std::thread outside([&] { open.complete(completion::value); });
    EXPECT_EQ(result.get(), 42);
    outside.join();
}

// A million inline completions take no stack.
TEST_P(awaits, inline_completions_take_no_stack) {
    const auto body = []() -> task<int> {
        int sum = 0;
        for (int i = 0; i < 100'000; ++i) {
            auto one = ex::just(1);
            sum += co_await std::move(one);
        }
        co_return sum;
    };
    EXPECT_EQ(runtime.run([&] { return block_on(body()); }), 100'000);
}

TEST_P(awaits, cancellation_of_the_task_requests_the_stop_and_waits_for_the_end) {
    gate open; // Does not end by itself when the stop is requested.
    counted held(1);
    bool was_cancelled = false;
    const auto body = [&]() -> task<> {
        auto wanted = open.get();
        try {
            co_await std::move(wanted);
        } catch (const sennit::cancelled&) {
            was_cancelled = true;
            throw;
        }
    };
    runtime.run([&] {
        sennit::nursery family;
        family.start(body);
        open.started.wait();
        family.cancel();
        open.stop_requested.wait();
        EXPECT_FALSE(was_cancelled);
        open.complete(completion::stopped);
        family.join();
    });
    EXPECT_TRUE(was_cancelled);
}

TEST_P(awaits, operation_may_end_inside_the_stop_request) {
    runtime.run([&] {
        gate open(true);
        const auto body = [&]() -> task<> {
            auto wanted = open.get();
            co_await std::move(wanted);
        };
        sennit::nursery family;
        family.start(body);
        open.started.wait();
        family.cancel();
        family.join();
    });
}

TEST_P(awaits, value_that_comes_in_spite_of_the_stop_is_returned) {
    gate open;
    int got = 0;
    const auto body = [&]() -> task<> {
        auto wanted = open.get();
        got = co_await std::move(wanted);
    };
    runtime.run([&] {
        sennit::nursery family;
        family.start(body);
        open.started.wait();
        family.cancel();
        open.stop_requested.wait();
        open.complete(completion::value);
        family.join();
    });
    EXPECT_EQ(got, 42);
}

TEST_P(awaits, time_limit_stops_the_operation) {
    gate open(true);
    const auto body = [&]() -> task<int> {
        auto wanted = open.get();
        co_return co_await std::move(wanted);
    };
    EXPECT_THROW(runtime.run([&] {
        return block_on(sennit::with_timeout(std::chrono::milliseconds(1), body()));
    }),
                 sennit::timed_out);
}

TEST_P(awaits, tasks_and_senders_nest) {
    const auto inner = [](int n) -> task<int> {
        auto twice = ex::just(n) | ex::then([](int x) { return 2 * x; });
        co_return co_await std::move(twice);
    };
    const auto outer = [&]() -> task<int> {
        int sum = 0;
        for (int i = 0; i < 100; ++i) {
            auto of_inner = as_sender(inner(i));
            sum += co_await std::move(of_inner);
        }
        co_return sum;
    };
    EXPECT_EQ(runtime.run([&] { return block_on(outer()); }), 9900);
}

TEST_P(awaits, generators_await_senders) {
    const auto squares = []() -> sennit::async_generator<int> {
        for (int i = 1; i <= 3; ++i) {
            auto square = ex::just(i * i);
            co_yield co_await std::move(square);
        }
    };
    const auto body = [&]() -> task<int> {
        auto all = squares();
        int sum = 0;
        for (;;) {
            int* next = co_await all.next();
            if (!next) co_return sum;
            sum += *next;
        }
    };
    EXPECT_EQ(runtime.run([&] { return block_on(body()); }), 14);
}

} // namespace
