// SPDX-License-Identifier: Apache-2.0
// async_all, async_any, async_first_success, async_for_each and async_select.
#include "support.hpp"

#include <sennit/channel.hpp>
#include <sennit/exception_list.hpp>
#include <sennit/mutex.hpp>
#include <sennit/on_lock.hpp>
#include <sennit/semaphore.hpp>

#include <algorithm>
#include <chrono>
#include <list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::block_on;
using sennit::task;

class async_groups : public with_workers {};
SENNIT_FOR_WORKERS(async_groups);

task<int> after_yields(int rounds, int value) {
    for (int i = 0; i < rounds; ++i) co_await sennit::async_yield();
    co_return value;
}
task<> endless() {
    co_await sennit::async_sleep_for(1h);
}
task<> notes_cancel(std::atomic<int>& cut) {
    try {
        co_await endless();
    } catch (const sennit::cancelled&) {
        ++cut;
        throw;
    }
}
task<int> fails_after(int rounds, const char* why) {
    co_await after_yields(rounds, 0);
    throw std::runtime_error(why);
}

TEST_P(async_groups, async_all_returns_all_values) {
    runtime.run([] {
        const auto body = []() -> task<> {
            auto [a, b, nothing] = co_await sennit::async_all(
                after_yields(3, 1), after_yields(0, 2), []() -> task<> { co_return; }());
            EXPECT_EQ(a, 1);
            EXPECT_EQ(b, 2);
            static_assert(std::is_same_v<decltype(nothing), std::monostate>);
            std::vector<task<int>> many;
            for (int i = 0; i < 100; ++i) many.push_back(after_yields(i % 3, i));
            const std::vector<int> values = co_await sennit::async_all(std::move(many));
            for (int i = 0; i < 100; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
            const auto none = co_await sennit::async_all(std::vector<task<int>>());
            EXPECT_TRUE(none.empty());
        };
        block_on(body());
    });
}

TEST_P(async_groups, async_all_cancels_rest_and_throws_first_error_when_all_have_ended) {
    runtime.run([] {
        for (int i = 0; i < 50; ++i) {
            std::atomic<int> cut{0};
            const auto body = [&]() -> task<> {
                co_await sennit::async_all(notes_cancel(cut), fails_after(i % 4, "first"),
                                           notes_cancel(cut));
            };
            try {
                block_on(body());
                ADD_FAILURE() << "no exception";
            } catch (const std::runtime_error& error) {
                EXPECT_STREQ(error.what(), "first");
            }
            // A child that had not begun its wait is cut short there, too.
            EXPECT_EQ(cut, 2);
        }
    });
}

TEST_P(async_groups, async_any_returns_first_and_ends_rest) {
    runtime.run([] {
        std::atomic<int> cut{0};
        const auto body = [&]() -> task<> {
            auto first = co_await sennit::async_any(notes_cancel(cut), after_yields(2, 5));
            EXPECT_EQ(first.index(), 1u);
            EXPECT_EQ(std::get<1>(first), 5);
            EXPECT_EQ(cut, 1);
            std::vector<task<>> all;
            for (int i = 0; i < 10; ++i)
                if (i == 6)
                    all.push_back([]() -> task<> { co_return; }());
                else
                    all.push_back(notes_cancel(cut));
            const auto won = co_await sennit::async_any(std::move(all));
            EXPECT_EQ(won.index, 6u);
            EXPECT_EQ(cut, 10);
            EXPECT_THROW(co_await sennit::async_any(fails_after(1, "any"), endless()),
                         std::runtime_error);
            EXPECT_THROW(co_await sennit::async_any(std::vector<task<int>>()),
                         std::invalid_argument);
        };
        block_on(body());
    });
}

TEST_P(async_groups, async_first_success_ignores_failures_unless_all_fail) {
    runtime.run([] {
        const auto body = []() -> task<> {
            auto first =
                co_await sennit::async_first_success(fails_after(0, "a"), after_yields(5, 7));
            EXPECT_EQ(std::get<1>(first), 7);
            try {
                co_await sennit::async_first_success(fails_after(1, "a"), fails_after(0, "b"));
                ADD_FAILURE() << "no exception";
            } catch (const sennit::exception_list& all) {
                EXPECT_EQ(all.size(), 2u);
                EXPECT_THROW(std::rethrow_exception(all[1]), std::runtime_error);
            }
        };
        block_on(body());
    });
}

TEST_P(async_groups, limit_around_group_cancels_children) {
    runtime.run([] {
        std::atomic<int> cut{0};
        const auto all = [&]() -> task<> {
            co_await sennit::async_all(notes_cancel(cut), notes_cancel(cut));
        };
        EXPECT_THROW(block_on(sennit::with_timeout(200us, all())), sennit::timed_out);
        EXPECT_EQ(cut, 2);
        const auto any = [&]() -> task<> {
            co_await sennit::async_any(notes_cancel(cut), notes_cancel(cut));
        };
        EXPECT_THROW(block_on(sennit::with_timeout(200us, any())), sennit::timed_out);
        EXPECT_EQ(cut, 4);
    });
}

TEST_P(async_groups, async_for_each_serves_every_element_at_most_so_many_at_a_time) {
    runtime.run([] {
        std::atomic<int> running{0}, most{0}, sum{0};
        const auto serve = [&](int value) -> task<> {
            const int now = ++running;
            for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
            }
            co_await after_yields(3, 0);
            sum += value;
            --running;
        };
        const auto body = [&]() -> task<> {
            std::list<int> values;
            for (int i = 1; i <= 100; ++i) values.push_back(i);
            co_await sennit::async_for_each(values, 4, serve);
            EXPECT_EQ(sum, 5050);
            EXPECT_LE(most, 4);
            sennit::channel<int> source(2);
            auto feed = [](sennit::channel<int>& to) -> task<> {
                for (int i = 1; i <= 100; ++i) co_await to.async_push(i);
                to.close();
            };
            sum = 0;
            co_await sennit::async_all(feed(source), sennit::async_for_each(source, 3, serve));
            EXPECT_EQ(sum, 5050);
            EXPECT_LE(most, 4);
            std::list<int> empty;
            co_await sennit::async_for_each(empty, 4, serve);
            EXPECT_THROW(co_await sennit::async_for_each(values, 0, serve), std::invalid_argument);
        };
        block_on(body());
    });
}

TEST_P(async_groups, async_for_each_stops_at_first_error) {
    runtime.run([] {
        std::atomic<int> begun{0};
        std::vector<int> values(1000);
        const auto serve = [&](int&) -> task<> {
            if (++begun == 10) throw std::runtime_error("tenth");
            co_await after_yields(1, 0);
            co_await endless();
        };
        EXPECT_THROW(block_on(sennit::async_for_each(values, 10, serve)), std::runtime_error);
        EXPECT_EQ(begun, 10);
    });
}

TEST_P(async_groups, async_select_takes_exactly_one_case) {
    runtime.run([] {
        sennit::channel<int> a(0), b(0);
        int from_a = 0, from_b = 0, closed = 0;
        const auto receive = [&]() -> task<> {
            while (closed < 2) {
                co_await sennit::async_select(
                    sennit::when(!a.is_closed() || a.size() > 0,
                                 sennit::on_pop(
                                     a, [&](int) { ++from_a; }, [&] { ++closed; })),
                    sennit::on_pop(b, [&](int) { ++from_b; }, [&] { ++closed; }));
            }
        };
        const auto send = [](sennit::channel<int>& to) -> task<> {
            for (int i = 0; i < 300; ++i) co_await to.async_push(i);
        };
        const auto senders = [&]() -> task<> {
            co_await sennit::async_all(send(a), send(b));
            a.close();
            b.close();
        };
        const auto body = [&]() -> task<> { co_await sennit::async_all(receive(), senders()); };
        block_on(body());
        EXPECT_EQ(from_a, 300);
        EXPECT_EQ(from_b, 300);
    });
}

TEST_P(async_groups, async_select_has_times_locks_defaults_and_stop_tokens) {
    runtime.run([] {
        sennit::channel<int> empty;
        sennit::counting_semaphore<> token(1);
        sennit::mutex guard;
        std::stop_source stop;
        stop.request_stop();
        const auto body = [&]() -> task<> {
            std::size_t which = co_await sennit::async_select(sennit::on_pop(empty, [](int) {}),
                                                              sennit::after(100us, [] {}));
            EXPECT_EQ(which, 1u);
            which = co_await sennit::async_select(sennit::on_pop(empty, [](int) {}),
                                                  sennit::otherwise([] {}));
            EXPECT_EQ(which, 1u);
            which = co_await sennit::async_select(sennit::on_pop(empty, [](int) {}),
                                                  sennit::on_acquire(token, [] {}));
            EXPECT_EQ(which, 1u);
            which = co_await sennit::async_select(
                sennit::on_lock(guard, [&] { EXPECT_THROW(guard.lock(), std::system_error); }));
            EXPECT_EQ(which, 0u);
            which = co_await sennit::async_select(sennit::on_pop(empty, [](int) {}),
                                                  sennit::on_stop(stop.get_token(), [] {}));
            EXPECT_EQ(which, 1u);
            which = co_await sennit::async_select(
                sennit::at(std::chrono::system_clock::now() + 1ms, [] {}));
            EXPECT_EQ(which, 0u);
            EXPECT_THROW(co_await sennit::async_select(
                             sennit::when(false, sennit::on_pop(empty, [](int) {}))),
                         std::logic_error);
        };
        block_on(body());
        EXPECT_THROW(block_on(sennit::with_timeout(100us,
                                                   [&]() -> task<> {
                                                       co_await sennit::async_select(
                                                           sennit::on_pop(empty, [](int) {}));
                                                   }())),
                     sennit::timed_out);
    });
}

} // namespace
