// SPDX-License-Identifier: Apache-2.0
// Tests the interface of sennit::fiber: construction, results, join, stop requests, detach, move.
#include "on_workers.hpp"

#include <sennit/detail/core/verbs.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/latch.hpp>
#include <sennit/nursery.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class fiber : public on_workers {};
SENNIT_ON_WORKERS(fiber);

TEST_P(fiber, fiber_calls_function_with_copies_of_arguments) {
    runtime.run([] {
        int seen = 0, original = 1;
        sennit::fiber([&seen](int value, int& referred) { seen = value + referred; }, original,
                      std::ref(original));
        EXPECT_EQ(seen, 2);
        sennit::fiber taker([](std::unique_ptr<int> mine) { return *mine; },
                            std::make_unique<int>(7));
        EXPECT_EQ(taker.join<int>(), 7);
        struct counter {
            int count = 0;
            void add(int n) { count += n; }
        } one;
        sennit::fiber(&counter::add, &one, 5).join();
        EXPECT_EQ(one.count, 5);
        int argument = 0;
        sennit::fiber(
            [&](std::stop_token stop, int given) { argument = stop.stop_possible() ? given : -1; },
            3)
            .join();
        EXPECT_EQ(argument, 3);
    });
}

TEST_P(fiber, closure_and_arguments_are_destroyed_before_join_returns) {
    auto token = std::make_shared<int>(1);
    runtime.run([&] {
        sennit::fiber one([token](std::shared_ptr<int>) {}, token);
        one.join();
        EXPECT_EQ(token.use_count(), 1);
        sennit::fiber two([token] { return token; });
        EXPECT_EQ(two.join<std::shared_ptr<int>>(), token);
    });
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(fiber, fiber_does_not_start_if_copying_its_function_throws) {
    struct refusing {
        refusing() = default;
        refusing(const refusing&) { throw std::runtime_error("copy"); }
        void operator()() const { ADD_FAILURE(); }
    };
    runtime.run([] {
        const refusing function;
        EXPECT_THROW(sennit::fiber one(function), std::runtime_error);
    });
}

int global = 0;

TEST_P(fiber, join_returns_result_of_any_kind) {
    const auto body = [] {
        EXPECT_EQ(sennit::fiber([] { return 42; }).join<int>(), 42);
        EXPECT_EQ(
            *sennit::fiber([] { return std::make_unique<int>(4); }).join<std::unique_ptr<int>>(),
            4);
        EXPECT_EQ(&sennit::fiber([]() -> int& { return global; }).join<int&>(), &global);
        sennit::fiber([] {}).join<void>();
        sennit::fiber([] { return 1; }).join(); // A join need not take the result.
    };
    runtime.run(body);
    body();
}

TEST_P(fiber, join_with_wrong_type_throws_and_fiber_stays_joinable) {
    runtime.run([] {
        sennit::fiber one([] { return 42; });
        EXPECT_THROW((void)one.join<long>(), std::bad_cast);
        EXPECT_THROW(one.join<void>(), std::bad_cast);
        EXPECT_TRUE(one.joinable());
        EXPECT_EQ(one.join<int>(), 42);
        sennit::fiber nothing([] {});
        EXPECT_THROW((void)nothing.join<int>(), std::bad_cast);
        nothing.join();
    });
}

void expect_not_joinable(sennit::fiber& one) {
    EXPECT_FALSE(one.joinable());
    EXPECT_EQ(one.get_id(), sennit::fiber::id());
    EXPECT_EQ(one.name(), "");
    expect_error(std::errc::invalid_argument, [&] { one.join(); });
    expect_error(std::errc::invalid_argument, [&] { (void)one.join<int>(); });
    expect_error(std::errc::invalid_argument, [&] { (void)one.join_for(1h); });
    expect_error(std::errc::invalid_argument,
                 [&] { (void)one.join_until(std::chrono::steady_clock::now()); });
    expect_error(std::errc::invalid_argument, [&] { one.detach(); });
}

void expect_no_stop_state(sennit::fiber& one) {
    EXPECT_FALSE(one.request_stop());
    EXPECT_FALSE(one.get_stop_source().stop_possible());
    EXPECT_FALSE(one.get_stop_token().stop_possible());
}

TEST_P(fiber, unjoinable_fiber_refuses_join_and_detach) {
    runtime.run([] {
        sennit::fiber none;
        expect_not_joinable(none);
        expect_no_stop_state(none);
        sennit::fiber one([] {});
        sennit::fiber two(std::move(one));
        expect_not_joinable(one); // NOLINT: a moved-from fiber is not joinable
        expect_no_stop_state(one);
        two.join();
        expect_not_joinable(two);
        sennit::fiber three([] {});
        three.detach();
        expect_not_joinable(three);
    });
}

// Expects the behaviour of std::jthread. The template checks std::jthread and sennit::fiber with
// one set of expectations.
template <class Thread>
void expect_stop_state_stays() {
    {
        Thread asked([](std::stop_token) {});
        const std::stop_source before = asked.get_stop_source();
        asked.join();
        EXPECT_EQ(asked.get_stop_source(), before);
        EXPECT_FALSE(before.stop_requested());
        EXPECT_TRUE(asked.request_stop());
        EXPECT_FALSE(asked.request_stop());
        EXPECT_TRUE(before.stop_requested());
        Thread moved(std::move(asked));
        EXPECT_EQ(moved.get_stop_source(), before);
        EXPECT_FALSE(asked.get_stop_source().stop_possible()); // NOLINT: the fiber was moved from
        Thread other;
        swap(moved, other);
        EXPECT_EQ(other.get_stop_source(), before);
        EXPECT_FALSE(moved.get_stop_source().stop_possible());
        moved = Thread([] {});
        EXPECT_NE(moved.get_stop_source(), before);
        moved.join();
        moved = std::move(other);
        EXPECT_EQ(moved.get_stop_token(), before.get_token());
    }
    {
        Thread quiet([] {}); // No caller asks for the stop state before the join.
        quiet.join();
        const std::stop_token token = quiet.get_stop_token();
        EXPECT_TRUE(token.stop_possible());
        EXPECT_FALSE(token.stop_requested());
        EXPECT_TRUE(quiet.request_stop());
        EXPECT_TRUE(token.stop_requested());
        EXPECT_FALSE(quiet.request_stop());
    }
    {
        // No caller asks for the stop state before the stop request and the join.
        Thread stopped([] {});
        EXPECT_TRUE(stopped.request_stop());
        stopped.join();
        Thread moved(std::move(stopped));
        EXPECT_FALSE(moved.request_stop());
        EXPECT_TRUE(moved.get_stop_token().stop_requested());
        EXPECT_TRUE(moved.get_stop_source().stop_possible());
        EXPECT_FALSE(moved.request_stop());
    }
    {
        Thread one([](std::stop_token stop) { EXPECT_FALSE(stop.stop_requested()); });
        one.join();
        Thread two([] {});
        two.join();
        EXPECT_NE(one.get_stop_source(), two.get_stop_source());
    }
}

TEST_P(fiber, fiber_keeps_stop_state_after_join) {
    expect_stop_state_stays<std::jthread>();
    expect_stop_state_stays<sennit::fiber>();
    runtime.run([] { expect_stop_state_stays<sennit::fiber>(); });
    runtime.run([] {
        sennit::fiber with_result([](std::stop_token stop) { return stop; });
        const std::stop_source before = with_result.get_stop_source();
        EXPECT_EQ(with_result.join<std::stop_token>(), before.get_token());
        EXPECT_EQ(with_result.get_stop_source(), before);
        sennit::fiber in_time([](std::stop_token) {});
        const std::stop_source earlier = in_time.get_stop_source();
        EXPECT_TRUE(in_time.join_for(1h));
        EXPECT_EQ(in_time.get_stop_source(), earlier);
    });
}

TEST_P(fiber, detached_fiber_sees_stop_request) {
    sennit::latch heard(2);
    runtime.run([&] {
        sennit::fiber one([&](std::stop_token stop) {
            yield_until([&] { return stop.stop_requested(); });
            heard.count_down();
        });
        sennit::fiber two([&] { // This fiber asks for no token before the stop request.
            const std::stop_token stop = sennit::this_fiber::get_stop_token();
            yield_until([&] { return stop.stop_requested(); });
            heard.count_down();
        });
        one.detach();
        two.detach();
        EXPECT_TRUE(one.request_stop());
        EXPECT_TRUE(two.get_stop_source().request_stop());
        EXPECT_FALSE(two.request_stop());
        sennit::fiber three([] {});
        std::move(three).detach();
        expect_no_stop_state(three); // NOLINT: the fiber was not moved from, only detached
    });
    heard.wait();
}

TEST_P(fiber, fiber_that_joins_itself_gets_error) {
    runtime.run([] {
        sennit::fiber one;
        sennit::event assigned;
        one = sennit::fiber([&] {
            assigned.wait();
            expect_error(std::errc::resource_deadlock_would_occur, [&] { one.join(); });
            expect_error(std::errc::resource_deadlock_would_occur, [&] { one.join<void>(); });
            expect_error(std::errc::resource_deadlock_would_occur, [&] { (void)one.join_for(1h); });
        });
        assigned.set();
        one.join();
    });
}

TEST_P(fiber, move_and_swap_transfer_whole_state) {
    runtime.run([] {
        sennit::event go;
        sennit::fiber a({.name = "a"}, [&] { return go.wait(), 1; });
        sennit::fiber b({.name = "b"}, [&] { return go.wait(), 2L; });
        const auto id_a = a.get_id(), id_b = b.get_id();
        swap(a, b);
        EXPECT_EQ(a.get_id(), id_b);
        EXPECT_EQ(b.name(), "a");
        a.swap(b);
        sennit::fiber c(std::move(a));
        EXPECT_EQ(c.get_id(), id_a);
        sennit::fiber d;
        d = std::move(b);
        EXPECT_EQ(d.get_id(), id_b);
        sennit::fiber& same = d;
        d = std::move(same);
        EXPECT_TRUE(d.joinable());
        go.set();
        EXPECT_EQ(c.join<int>(), 1);
        EXPECT_EQ(d.join<long>(), 2L);
    });
}

TEST_P(fiber, assignment_and_destruction_stop_and_join_fiber) {
    runtime.run([] {
        std::atomic<int> ended{0};
        const auto until_stopped = [&](std::stop_token stop) {
            yield_until([&] { return stop.stop_requested(); });
            ++ended;
        };
        {
            sennit::fiber one(until_stopped);
            one = sennit::fiber(until_stopped);
            EXPECT_EQ(ended, 1);
            one = sennit::fiber();
            EXPECT_EQ(ended, 2);
            sennit::fiber two(until_stopped);
        }
        EXPECT_EQ(ended, 3);
    });
}

TEST_P(fiber, join_rethrows_exception_of_fiber) {
    const auto body = [] {
        const auto thrower = []() -> int { throw std::runtime_error("x"); };
        sennit::fiber a(thrower), b(thrower), c(thrower);
        EXPECT_THROW(a.join(), std::runtime_error);
        EXPECT_THROW((void)b.join<int>(), std::runtime_error);
        EXPECT_THROW((void)c.join_for(1h), std::runtime_error);
        EXPECT_FALSE(a.joinable() || b.joinable() || c.joinable());
    };
    runtime.run(body);
    body();
}

TEST_P(fiber, unstarted_fiber_keeps_stop_request) {
    runtime.run([&] {
        for (int i = 0; i < 100; ++i) {
            sennit::fiber one([](std::stop_token stop) {
                yield_until([&] { return stop.stop_requested(); });
                return sennit::this_fiber::get_stop_token().stop_requested();
            });
            EXPECT_TRUE(one.request_stop());
            EXPECT_FALSE(one.request_stop());
            EXPECT_TRUE(one.get_stop_token().stop_requested());
            EXPECT_TRUE(one.join<bool>());
            sennit::fiber two([] { return sennit::this_fiber::get_stop_token(); });
            const std::stop_source source = two.get_stop_source();
            const std::stop_token token = two.join<std::stop_token>();
            EXPECT_EQ(token, source.get_token());
            EXPECT_FALSE(token.stop_requested());
        }
    });
}

TEST_P(fiber, request_stop_calls_stop_callbacks) {
    runtime.run([] {
        sennit::event stopped;
        sennit::fiber one([&](std::stop_token stop) {
            std::stop_callback wake(stop, [&] { stopped.set(); });
            stopped.wait();
        });
        one.request_stop();
        one.join();
        EXPECT_TRUE(stopped.try_wait());
    });
}

TEST_P(fiber, detached_fiber_continues) {
    constexpr int count = 200;
    sennit::latch ended(2 * count);
    runtime.run([&] {
        for (int i = 0; i < count; ++i) {
            sennit::fiber([&] { ended.count_down(); }).detach();
            sennit::fiber one({.policy = sennit::launch::now}, [&] { ended.count_down(); });
            one.detach(); // The fiber may have ended already.
        }
    });
    ended.wait();
}

TEST_P(fiber, plain_threads_create_join_and_wake_fiber) {
    sennit::event go(sennit::event::mode::auto_reset);
    for (int i = 0; i < 100; ++i) {
        sennit::fiber one({.runtime = &runtime}, [&, i] {
            EXPECT_NE(sennit::sched::current_runtime(), nullptr);
            go.wait();
            return i;
        });
        std::thread([&] { go.set(); }).join();
        std::thread([&, mine = std::move(one)]() mutable {
            EXPECT_EQ(mine.join<int>(), i);
        }).join();
    }
}

TEST_P(fiber, fiber_runs_on_given_runtime_or_on_runtime_of_parent) {
    sennit::runtime other({.workers = 1});
    runtime.run([&] {
        const auto where = [] { return sennit::sched::current_runtime(); };
        using core = sennit::sched::runtime_core*;
        EXPECT_EQ(sennit::fiber(where).join<core>(), &runtime.core());
        for (const auto policy : {sennit::launch::enqueue, sennit::launch::now})
            EXPECT_EQ(sennit::fiber({.policy = policy, .runtime = &other}, where).join<core>(),
                      &other.core());
    });
    EXPECT_EQ(sennit::fiber([] {
                  return sennit::sched::current_runtime();
              }).join<sennit::sched::runtime_core*>(),
              &sennit::default_runtime().core());
}

// Without spare workers, which share the queue. A new worker begins with a request for work, which
// it answers with half of its first queue. The first round is therefore left out.
TEST(fiber_in_order, fibers_begin_in_order_of_their_start) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    const auto order_of = [&](sennit::launch policy) {
        std::string order;
        runtime.run([&] {
            sennit::nursery all;
            for (char name = 'a'; name != 'e'; ++name)
                all.start({.policy = policy}, [&, name] {
                    order += name;
                    sennit::fiber child([&] { order += '+'; });
                    child.detach();
                });
            all.join();
        });
        return order;
    };
    (void)order_of(sennit::launch::in_order);
    EXPECT_EQ(order_of(sennit::launch::in_order), "a+b+c+d+");
    EXPECT_EQ(order_of(sennit::launch::enqueue), "d+c+b+a+");
}

TEST_P(fiber, fiber_launched_now_runs_before_parent_continues) {
    runtime.run([&] {
        for (int i = 0; i < 100; ++i) {
            std::atomic<bool> began{false};
            sennit::event go;
            sennit::fiber one({.policy = sennit::launch::now}, [&] {
                began = true;
                go.wait();
            });
            // With more workers, another worker may take the parent while the fiber begins.
            if (GetParam() == 1) {
                EXPECT_TRUE(began);
            }
            go.set();
            one.join();
            EXPECT_TRUE(began);
        }
    });
    sennit::fiber outside({.policy = sennit::launch::now, .runtime = &runtime}, [] { return 1; });
    EXPECT_EQ(outside.join<int>(), 1);
}

} // namespace
