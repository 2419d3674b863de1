// SPDX-License-Identifier: Apache-2.0
// Tasks as children and as owners of nurseries.
#include "support.hpp"

#include <sennit/cancelled.hpp>
#include <sennit/event.hpp>
#include <sennit/exception_list.hpp>
#include <sennit/nursery.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace {

using namespace std::chrono_literals;
using sennit::block_on;
using sennit::task;

class task_nursery : public with_workers {};
SENNIT_FOR_WORKERS(task_nursery);

task<> nap_for_ever(std::atomic<int>& cut) {
    try {
        co_await sennit::async_sleep_for(1h);
    } catch (const sennit::cancelled&) {
        ++cut;
        throw;
    }
}

TEST_P(task_nursery, join_waits_for_tasks_of_every_form) {
    runtime.run([] {
        std::atomic<int> ended{0};
        const auto child = [&ended]() -> task<int> {
            co_await sennit::async_yield();
            co_return ++ended;
        };
        const auto with_token = [&ended](std::stop_token token) -> task<> {
            co_await sennit::async_yield();
            EXPECT_FALSE(token.stop_requested());
            ++ended;
        };
        sennit::nursery family;
        for (int i = 0; i < 50; ++i) {
            family.start(child);
            family.start(child());
            family.start(with_token);
            family.start([&ended] { ++ended; }); // A fiber.
            EXPECT_TRUE(family.try_start(child));
        }
        family.join();
        EXPECT_EQ(ended, 250);
    });
}

TEST_P(task_nursery, function_lives_as_long_as_its_task) {
    runtime.run([] {
        std::atomic<int> sum{0};
        auto value = std::make_shared<int>(7);
        const std::weak_ptr<int> alive = value;
        sennit::nursery family;
        family.start([&sum, value = std::move(value)]() -> task<> {
            co_await sennit::async_yield();
            sum += *value;
        });
        family.join();
        EXPECT_EQ(sum, 7);
        EXPECT_TRUE(alive.expired());
    });
}

TEST_P(task_nursery, first_exception_cancels_other_tasks) {
    runtime.run([] {
        for (int round = 0; round < 30; ++round) {
            std::atomic<int> cut{0};
            const auto fail = [round]() -> task<> {
                for (int i = 0; i < round % 3; ++i) co_await sennit::async_yield();
                throw std::runtime_error("child");
            };
            sennit::nursery family;
            for (int i = 0; i < 3; ++i) family.start([&cut] { return nap_for_ever(cut); });
            family.start(fail);
            EXPECT_THROW(family.join(), std::runtime_error);
            EXPECT_TRUE(family.cancelled());
            EXPECT_LE(cut, 3);
        }
    });
}

TEST_P(task_nursery, exception_of_the_function_itself_is_that_of_the_child) {
    runtime.run([] {
        sennit::nursery family;
        family.start([]() -> task<> { throw std::logic_error("no task"); });
        EXPECT_THROW(family.join(), std::logic_error);
    });
}

TEST(task_nursery_serial, tasks_that_have_not_begun_do_not_begin_after_cancel) {
    sennit::runtime one({.workers = 1});
    one.run([] {
        bool begun = false;
        sennit::nursery family;
        family.start([&begun]() -> task<> {
            begun = true;
            co_return;
        });
        family.cancel();
        family.join();
        EXPECT_FALSE(begun);
    });
}

TEST_P(task_nursery, limit_holds_for_tasks) {
    runtime.run([] {
        std::atomic<int> now{0}, most{0}, ended{0};
        sennit::nursery family({.limit = 3});
        const auto child = [&](int depth, auto& self) -> task<> {
            int seen = most;
            const int mine = ++now;
            while (mine > seen && !most.compare_exchange_weak(seen, mine)) {
            }
            // A child may start a sibling at the limit, which is queued.
            if (depth > 0) family.start([&, depth] { return self(depth - 1, self); });
            co_await sennit::async_yield();
            --now;
            ++ended;
        };
        for (int i = 0; i < 20; ++i) family.start([&] { return child(2, child); });
        family.join();
        EXPECT_EQ(ended, 60);
        EXPECT_LE(most, 3);
    });
}

TEST_P(task_nursery, collected_errors_are_reported_together) {
    runtime.run([] {
        sennit::nursery family({.collect_errors = true});
        for (int i = 0; i < 5; ++i)
            family.start([i]() -> task<> {
                co_await sennit::async_yield();
                if (i % 2 == 0) throw std::runtime_error(std::to_string(i));
            });
        try {
            family.join();
            ADD_FAILURE() << "no exception";
        } catch (const sennit::exception_list& all) {
            EXPECT_EQ(all.size(), 3u);
        }
    });
}

TEST_P(task_nursery, task_owns_nursery_and_awaits_its_children) {
    runtime.run([] {
        std::atomic<int> ended{0};
        const auto body = [&](sennit::nursery& family) -> task<> {
            for (int i = 0; i < 20; ++i)
                family.start([&ended]() -> task<> {
                    co_await sennit::async_yield();
                    ++ended;
                });
            co_await sennit::async_yield();
        };
        block_on(sennit::async_with_nursery(body));
        EXPECT_EQ(ended, 20);
        const auto direct = [&]() -> task<> {
            sennit::nursery family;
            co_await body(family);
            co_await family.async_join();
            EXPECT_EQ(ended, 40);
            co_await family.async_join(); // No child is left.
        };
        block_on(direct());
    });
}

TEST_P(task_nursery, exception_of_the_body_cancels_children) {
    runtime.run([] {
        for (int round = 0; round < 20; ++round) {
            std::atomic<int> cut{0};
            const auto body = [&](sennit::nursery& family) -> task<> {
                family.start([&cut] { return nap_for_ever(cut); });
                for (int i = 0; i < round % 3; ++i) co_await sennit::async_yield();
                throw std::runtime_error("body");
            };
            EXPECT_THROW(block_on(sennit::async_with_nursery(body)), std::runtime_error);
            EXPECT_LE(cut, 1);
        }
    });
}

TEST_P(task_nursery, cancelled_owner_cancels_and_awaits_children) {
    runtime.run([] {
        std::atomic<int> cut{0};
        sennit::event begun;
        const auto own = [&]() -> task<> {
            const auto body = [&](sennit::nursery& family) -> task<> {
                family.start([&cut] { return nap_for_ever(cut); });
                begun.set();
                co_return;
            };
            co_await sennit::async_with_nursery(body);
        };
        const auto stop = [&]() -> task<> { co_await begun.async_wait(); };
        const auto both = [&]() -> task<std::size_t> {
            co_return (co_await sennit::async_any(own(), stop())).index();
        };
        EXPECT_EQ(block_on(both()), 1u);
        EXPECT_LE(cut, 1);
    });
}

} // namespace
