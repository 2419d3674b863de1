// SPDX-License-Identifier: Apache-2.0
// Tests async_enter, the awaits of conditions and async_waitfor: exclusion among tasks, fibers and
// threads, order of arrival, entering again, sets, limits, cancellation, and accepted calls.
#include "strand_kinds.hpp"
#include "support.hpp"

#include <sennit/cancelled.hpp>

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/future.hpp>
#include <sennit/monitor.hpp>
#include <sennit/nursery.hpp>

#include <sennit/this_fiber.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sennit::async_enter;
using sennit::block_on;
using sennit::task;

class monitor_awaits : public with_workers {};
SENNIT_FOR_WORKERS(monitor_awaits);

struct room : sennit::monitor {
    int inside = 0;
    int entered = 0;
    void use() {
        EXPECT_EQ(inside++, 0);
        ++entered;
        --inside;
    }
};

task<> use_across_a_turn(room& one) {
    auto in = co_await async_enter(one);
    EXPECT_EQ(one.inside++, 0);
    co_await sennit::async_yield();
    ++one.entered;
    --one.inside;
}

TEST_P(monitor_awaits, tasks_fibers_and_threads_exclude_each_other) {
    room one;
    static constexpr int rounds = 100;
    const auto blocks = [&] {
        for (int i = 0; i < rounds; ++i) {
            auto in = sennit::enter(one);
            one.use();
        }
    };
    std::thread outside(blocks);
    runtime.run([&] {
        const auto awaits = [&]() -> task<> {
            for (int i = 0; i < rounds; ++i) co_await use_across_a_turn(one);
        };
        std::vector<sennit::future<void>> all;
        for (int i = 0; i < 4; ++i) all.push_back(sennit::spawn(awaits));
        sennit::fiber beside([&] {
            for (int i = 0; i < rounds; ++i) {
                auto in = sennit::enter(one);
                EXPECT_EQ(one.inside++, 0);
                sennit::this_fiber::yield();
                ++one.entered;
                --one.inside;
            }
        });
        for (auto& each : all) each.get();
        beside.join();
    });
    outside.join();
    EXPECT_EQ(one.entered, 6 * rounds);
}

TEST_P(monitor_awaits, task_enters_again_and_through_the_tasks_that_it_awaits) {
    room one;
    const auto inner = [&]() -> task<> {
        auto in = co_await async_enter(one);
        co_await sennit::async_yield();
    };
    const auto other = [&]() -> task<> {
        auto in = co_await async_enter(one);
        one.use();
    };
    const auto body = [&]() -> task<> {
        sennit::future<void> waits;
        {
            auto in = co_await async_enter(one);
            waits = sennit::spawn(other);
            co_await inner();
            auto again = sennit::enter(one); // The blocking form knows the task, too.
            co_await sennit::async_yield();
            EXPECT_EQ(one.entered, 0);
        }
        co_await std::move(waits);
    };
    runtime.run([&] { block_on(body()); });
    EXPECT_EQ(one.entered, 1);
}

// On one worker, a task that has counted itself has entered the queue before another task runs.
TEST(monitor_awaits_alone, monitor_is_handed_over_in_order_of_arrival) {
    sennit::runtime one_worker({.workers = 1});
    room one;
    int arrived = 0;
    std::vector<int> order;
    const auto awaits = [&](int number) -> task<> {
        ++arrived;
        auto in = co_await async_enter(one);
        order.push_back(number);
    };
    std::vector<sennit::future<void>> all;
    const auto holds = [&]() -> task<> {
        auto in = co_await async_enter(one);
        for (int i = 0; i < 6; ++i) {
            all.push_back(sennit::spawn(awaits, i));
            while (arrived == i) co_await sennit::async_yield();
        }
        EXPECT_TRUE(order.empty());
    };
    one_worker.run([&] {
        block_on(holds());
        for (auto& each : all) each.get();
    });
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5}));
}

struct cell : sennit::monitor {
    int value = 0;
    bool full = false;
    task<> put(int given) {
        auto in = co_await async_enter<&cell::put>(*this);
        if (full) sennit::waitfor(sennit::accept<&cell::take>(*this));
        value = given;
        full = true;
    }
    task<int> take() {
        auto in = co_await async_enter<&cell::take>(*this);
        if (!full) sennit::waitfor(sennit::accept<&cell::put>(*this));
        full = false;
        co_return value;
    }
};

TEST_P(monitor_awaits, waitfor_accepts_calls_of_tasks) {
    runtime.run([] {
        static constexpr int count = 200;
        cell one;
        const auto puts = [&]() -> task<> {
            for (int i = 0; i < count; ++i) co_await one.put(i);
        };
        const auto takes = [&]() -> task<> {
            for (int i = 0; i < count; ++i) {
                const int got = co_await one.take();
                EXPECT_EQ(got, i);
            }
        };
        sennit::future<void> from = sennit::spawn(puts);
        sennit::future<void> to = sennit::spawn(takes);
        from.get();
        to.get();
    });
}

struct buffer : sennit::monitor {
    sennit::condition not_full{*this}, not_empty{*this};
    std::vector<int> values;
};

TEST_P(monitor_awaits, task_may_wait_for_a_condition_inside) {
    runtime.run([] {
        static constexpr int count = 100;
        buffer one;
        const auto puts = [&]() -> task<> {
            for (int i = 0; i < count; ++i) {
                auto in = co_await async_enter(one);
                if (one.values.size() == 2) one.not_full.wait();
                one.values.push_back(i);
                one.not_empty.signal();
            }
        };
        const auto takes = [&]() -> task<> {
            for (int i = 0; i < count; ++i) {
                auto in = co_await async_enter(one);
                if (one.values.empty()) one.not_empty.wait();
                EXPECT_EQ(one.values.front(), i);
                one.values.erase(one.values.begin());
                one.not_full.signal();
            }
        };
        sennit::future<void> from = sennit::spawn(puts);
        sennit::future<void> to = sennit::spawn(takes);
        from.get();
        to.get();
    });
}

// A bounded buffer whose calls block or are awaited.
struct exchange : sennit::monitor {
    sennit::condition not_full{*this}, not_empty{*this};
    std::vector<int> values;

    void put(int value) {
        auto in = sennit::enter(*this);
        if (values.size() == 2) not_full.wait();
        EXPECT_LT(values.size(), 2u);
        values.push_back(value);
        not_empty.signal();
    }
    int take() {
        auto in = sennit::enter(*this);
        if (values.empty()) not_empty.wait();
        return take_first();
    }
    task<> async_put(int value) {
        auto in = co_await async_enter(*this);
        if (values.size() == 2) co_await not_full.async_wait();
        EXPECT_LT(values.size(), 2u);
        values.push_back(value);
        not_empty.signal();
    }
    task<int> async_take() {
        auto in = co_await async_enter(*this);
        if (values.empty()) co_await not_empty.async_wait();
        co_return take_first();
    }

private:
    int take_first() {
        EXPECT_FALSE(values.empty());
        const int value = values.front();
        values.erase(values.begin());
        not_full.signal();
        return value;
    }
};

// Strands of each kind put numbers, and strands of each kind take them.
template <class Cell>
void pass_numbers_between_all_kinds() {
    static constexpr int rounds = 100;
    for (const strand_kind puts : all_kinds)
        for (const strand_kind takes : all_kinds) {
            Cell one;
            auto producer = start_as(
                puts,
                [&] {
                    for (int i = 0; i < rounds; ++i) one.put(i);
                },
                [&]() -> task<> {
                    for (int i = 0; i < rounds; ++i) co_await one.async_put(i);
                });
            auto consumer = start_as(
                takes,
                [&] {
                    for (int i = 0; i < rounds; ++i) EXPECT_EQ(one.take(), i);
                },
                [&]() -> task<> {
                    for (int i = 0; i < rounds; ++i) {
                        const int got = co_await one.async_take();
                        EXPECT_EQ(got, i);
                    }
                });
            producer();
            consumer();
        }
}

TEST_P(monitor_awaits, each_kind_of_strand_waits_for_a_condition_that_each_kind_signals) {
    runtime.run([] { pass_numbers_between_all_kinds<exchange>(); });
}

TEST_P(monitor_awaits, many_tasks_wait_for_a_condition_with_limits_and_none_is_lost) {
    runtime.run([] {
        struct counted_room : room {
            sennit::condition ready{*this};
            int tokens = 0;
        } one;
        static constexpr int count = 40;
        std::atomic<int> in_time = 0, late = 0;
        const auto waits = [&](int i) -> task<> {
            auto in = co_await async_enter(one);
            while (one.tokens == 0) {
                const std::chrono::nanoseconds limit(i % 2 == 0 ? 20'000 : 3'600'000'000'000);
                const bool signalled = co_await one.ready.async_wait_for(limit);
                one.use(); // Inside in either case.
                if (!signalled) {
                    ++late;
                    co_return;
                }
            }
            --one.tokens;
            ++in_time;
        };
        std::vector<sennit::future<void>> all;
        for (int i = 0; i < count; ++i) all.push_back(sennit::spawn(waits, i));
        const auto signals = [&]() -> task<> {
            for (int i = 0; i < count; ++i) {
                {
                    auto in = co_await async_enter(one);
                    ++one.tokens;
                    one.ready.signal();
                }
                co_await sennit::async_yield();
            }
        };
        block_on(signals());
        for (auto& each : all) each.get();
        EXPECT_EQ(in_time + late, count);
        EXPECT_EQ(one.tokens, count - in_time);
        auto in = sennit::enter(one);
        EXPECT_TRUE(one.ready.empty());
    });
}

TEST_P(monitor_awaits, wait_that_ends_by_its_limit_returns_inside_its_monitors) {
    runtime.run([] {
        room left, right;
        sennit::condition both(left, right);
        const auto body = [&]() -> task<> {
            auto in = co_await async_enter(left, right);
            const bool signalled = co_await both.async_wait_for(std::chrono::nanoseconds(1), 7);
            EXPECT_FALSE(signalled);
            EXPECT_TRUE(both.empty());
            const bool later = co_await both.async_wait_until(std::chrono::steady_clock::now());
            EXPECT_FALSE(later);
            left.use();
            right.use();
        };
        // Fibers that keep entering make the task wait on its way back.
        std::atomic<bool> stop = false;
        const auto enters = [&](room& one) {
            while (!stop) {
                {
                    auto in = sennit::enter(one);
                    one.use();
                }
                sennit::this_fiber::yield();
            }
        };
        sennit::fiber first([&] { enters(left); }), second([&] { enters(right); });
        for (int i = 0; i < 20; ++i) block_on(body());
        stop = true;
        first.join();
        second.join();
    });
}

TEST_P(monitor_awaits, cancelled_wait_throws_inside_the_monitor) {
    runtime.run([] {
        room one;
        sennit::condition never{one};
        std::atomic<int> waiting = 0, cancelled = 0;
        sennit::nursery family;
        const auto waits = [&]() -> task<> {
            auto in = co_await async_enter(one);
            ++waiting;
            try {
                co_await never.async_wait();
            } catch (const sennit::cancelled&) {
                one.use();
                ++cancelled;
                throw;
            }
        };
        for (int i = 0; i < 8; ++i) family.start(waits);
        while (waiting != 8) sennit::this_fiber::yield();
        family.cancel();
        family.join();
        EXPECT_EQ(cancelled, 8);
        auto in = sennit::enter(one);
        EXPECT_TRUE(never.empty());
    });
}

TEST_P(monitor_awaits, signal_block_of_a_task_lets_the_waiter_run_first) {
    runtime.run([] {
        for (const strand_kind waiter : all_kinds) {
            room one;
            sennit::condition asked{one};
            std::string order;
            auto waits = start_as(
                waiter,
                [&] {
                    auto in = sennit::enter(one);
                    asked.wait(5);
                    order += "waiter ";
                },
                [&]() -> task<> {
                    auto in = co_await async_enter(one);
                    co_await asked.async_wait(5);
                    order += "waiter ";
                });
            const auto signals = [&]() -> task<> {
                for (bool done = false; !done;) {
                    {
                        auto in = co_await async_enter(one);
                        if (!asked.empty()) {
                            EXPECT_EQ(asked.front(), 5u);
                            const bool woken = co_await asked.async_signal_block();
                            EXPECT_TRUE(woken);
                            order += "signaller";
                            const bool again = co_await asked.async_signal_block();
                            EXPECT_FALSE(again);
                            done = true;
                        }
                    }
                    co_await sennit::async_yield();
                }
            };
            block_on(signals());
            waits();
            EXPECT_EQ(order, "waiter signaller");
        }
    });
}

TEST_P(monitor_awaits, signal_all_releases_tasks_and_fibers_in_order_of_arrival) {
    runtime.run([] {
        room one;
        sennit::condition gate{one};
        std::vector<int> order;
        std::vector<sennit::future<void>> all;
        const auto arrived = [&](std::uintptr_t count) {
            for (;;) {
                {
                    auto in = sennit::enter(one);
                    if (one.entered == static_cast<int>(count)) return;
                }
                sennit::this_fiber::yield();
            }
        };
        for (int i = 0; i < 6; ++i) {
            if (i % 2 == 0)
                all.push_back(sennit::spawn([&, i]() -> task<> {
                    auto in = co_await async_enter(one);
                    ++one.entered;
                    co_await gate.async_wait();
                    order.push_back(i);
                }));
            else
                all.push_back(sennit::async([&, i] {
                    auto in = sennit::enter(one);
                    ++one.entered;
                    gate.wait();
                    order.push_back(i);
                }));
            arrived(static_cast<std::uintptr_t>(i) + 1);
        }
        {
            auto in = sennit::enter(one);
            gate.signal_all();
        }
        for (auto& each : all) each.get();
        EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5}));
    });
}

TEST_P(monitor_awaits, sets_are_entered_without_deadlock_in_any_order_of_arguments) {
    room seats[3];
    static constexpr int rounds = 100;
    const auto use = [](room& a, room& b) {
        a.use();
        b.use();
    };
    runtime.run([&] {
        std::vector<std::function<void()>> all;
        int next = 0;
        for (const strand_kind kind : all_kinds)
            for (int i = 0; i < 2; ++i, ++next) {
                room &a = seats[next % 3], &b = seats[(next + 1) % 3];
                all.push_back(start_as(
                    kind,
                    [&a, &b, use] {
                        for (int k = 0; k < rounds; ++k) {
                            auto in = sennit::enter(a, b);
                            use(a, b);
                        }
                    },
                    [&a, &b, use]() -> task<> {
                        for (int k = 0; k < rounds; ++k) {
                            auto in = co_await async_enter(b, a);
                            use(a, b);
                            co_await sennit::async_yield();
                            auto again = co_await async_enter(a, b); // Inside already.
                            use(a, b);
                        }
                    }));
            }
        for (auto& each : all) each();
    });
    // 4 strands enter each pair once a round, and 2 tasks twice.
    EXPECT_EQ(seats[0].entered + seats[1].entered + seats[2].entered, (4 + 2 * 2) * 2 * rounds);
}

TEST_P(monitor_awaits, same_monitor_twice_in_a_set_is_entered_once) {
    runtime.run([] {
        room one;
        const auto body = [&]() -> task<> {
            {
                auto in = co_await async_enter(one, one);
                one.use();
            }
            std::thread([&] {
                auto in = sennit::enter(one); // Free again.
                one.use();
            }).join();
        };
        block_on(body());
        EXPECT_EQ(one.entered, 2);
    });
}

struct async_cell : sennit::monitor {
    int value = 0;
    bool full = false;
    void put(int given) {
        auto in = sennit::enter<&async_cell::put>(*this);
        if (full) sennit::waitfor(sennit::accept<&async_cell::take>(*this));
        value = given;
        full = true;
    }
    int take() {
        auto in = sennit::enter<&async_cell::take>(*this);
        if (!full) sennit::waitfor(sennit::accept<&async_cell::put>(*this));
        full = false;
        return value;
    }
    task<> async_put(int given) {
        auto in = co_await async_enter<&async_cell::put>(*this);
        if (full) co_await sennit::async_waitfor(sennit::accept<&async_cell::take>(*this));
        EXPECT_FALSE(full);
        value = given;
        full = true;
    }
    task<int> async_take() {
        auto in = co_await async_enter<&async_cell::take>(*this);
        if (!full) co_await sennit::async_waitfor(sennit::accept<&async_cell::put>(*this));
        EXPECT_TRUE(full);
        full = false;
        co_return value;
    }
};

TEST_P(monitor_awaits, async_waitfor_accepts_calls_of_each_kind_of_strand) {
    runtime.run([] { pass_numbers_between_all_kinds<async_cell>(); });
}

struct two_calls : sennit::monitor {
    int first = 0, second = 0;
    static void both(two_calls& a, two_calls& b) {
        auto in = sennit::enter<&two_calls::both>(a, b);
        ++a.first;
        ++b.second;
    }
    static task<> async_both(two_calls& a, two_calls& b) {
        auto in = co_await async_enter<&two_calls::both>(a, b);
        ++a.first;
        ++b.second;
    }
};

TEST_P(monitor_awaits, async_waitfor_accepts_calls_on_sets_and_runs_functions_of_clauses) {
    runtime.run([] {
        for (const strand_kind calls : all_kinds) {
            two_calls a, b;
            int ran = 0;
            const auto accepts = [&]() -> task<std::size_t> {
                auto in = co_await async_enter(a, b);
                auto calls_it = start_as(
                    calls, [&] { two_calls::both(a, b); },
                    [&]() -> task<> { co_await two_calls::async_both(a, b); });
                const std::size_t chosen = co_await sennit::async_waitfor(
                    sennit::timeout(std::chrono::hours(1)),
                    sennit::accept<&two_calls::both>(a, b).then([&ran] { ++ran; }));
                EXPECT_EQ(a.first + b.second, 2);
                calls_it();
                co_return chosen;
            };
            EXPECT_EQ(block_on(accepts()), 1u);
            EXPECT_EQ(ran, 1);
        }
    });
}

TEST_P(monitor_awaits, async_waitfor_ends_by_timeout_or_else_destructor_and_cancellation) {
    runtime.run([] {
        async_cell one;
        const auto limits = [&]() -> task<> {
            auto in = co_await async_enter(one);
            const std::size_t late =
                co_await sennit::async_waitfor(sennit::accept<&async_cell::put>(one),
                                               sennit::timeout(std::chrono::nanoseconds(1)));
            EXPECT_EQ(late, 1u);
            const std::size_t otherwise = co_await sennit::async_waitfor(
                sennit::accept<&async_cell::put>(one), sennit::or_else());
            EXPECT_EQ(otherwise, 1u);
            const std::size_t none = co_await sennit::async_waitfor(
                sennit::when(false, sennit::accept<&async_cell::put>(one)));
            EXPECT_EQ(none, sennit::no_clause);
        };
        block_on(limits());
        sennit::nursery family;
        std::atomic<bool> waits = false;
        family.start([&]() -> task<> {
            auto in = co_await async_enter(one);
            waits = true;
            co_await sennit::async_waitfor(sennit::accept<&async_cell::take>(one));
            ADD_FAILURE() << "no task called";
        });
        while (!waits) sennit::this_fiber::yield();
        family.cancel();
        family.join();
        auto in = sennit::enter(one); // Free again.
    });
}

struct served : sennit::monitor {
    ~served() { auto in = sennit::enter_destructor(*this); }
};

TEST_P(monitor_awaits, async_waitfor_accepts_the_destructor) {
    runtime.run([] {
        auto object = std::make_unique<served>();
        sennit::event inside;
        const auto serves = [&inside](served& one) -> task<std::size_t> {
            auto in = co_await async_enter(one);
            inside.set();
            co_return co_await sennit::async_waitfor(sennit::accept_destructor(one));
        };
        sennit::future<std::size_t> ended = sennit::spawn(serves, std::ref(*object));
        inside.wait();
        object.reset();
        EXPECT_EQ(ended.get(), 0u);
    });
}

// A task that comes back from a wait enters before the acceptor continues.
TEST_P(monitor_awaits, returning_task_meets_acceptor) {
    runtime.run([] {
        struct returns : sennit::monitor {
            sennit::condition never{*this};
            int back = 0;
            void call() {
                auto in = sennit::enter<&returns::call>(*this);
                EXPECT_EQ(back, 1);
            }
        } one;
        sennit::event began, accepting;
        const auto waits = [&]() -> task<> {
            auto in = co_await async_enter(one);
            began.set();
            const bool signalled = co_await one.never.async_wait_for(std::chrono::nanoseconds(1));
            EXPECT_FALSE(signalled);
            ++one.back;
        };
        const auto accepts = [&]() -> task<> {
            auto in = co_await async_enter(one);
            accepting.set();
            for (std::size_t chosen = 1; chosen != 0;)
                chosen =
                    co_await sennit::async_waitfor(sennit::accept<&returns::call>(one),
                                                   sennit::timeout(std::chrono::microseconds(100)));
        };
        sennit::future<void> first = sennit::spawn(waits);
        began.wait();
        sennit::future<void> second = sennit::spawn(accepts);
        first.get();
        accepting.wait(); // The acceptor is inside.
        one.call();
        second.get();
    });
}

} // namespace
