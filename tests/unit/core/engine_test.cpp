// SPDX-License-Identifier: Apache-2.0
// Tests contexts: suspension, migration, and the state that migrates with a context.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <stdexcept>
#include <thread>

namespace {

thread_local int mine = 0;
[[gnu::noinline]] int& thread_locals_value() {
    asm volatile("");
    return mine;
}
[[gnu::noinline]] std::thread::id here() {
    asm volatile("");
    return std::this_thread::get_id();
}

// Parks the context and lets a thread that is not a worker wake it. Any worker may continue the
// context.
void move_somewhere() {
    std::atomic<sennit::sched::waiter*> parked{nullptr};
    std::thread waker([&parked] {
        sennit::sched::waiter* who = nullptr;
        while (!(who = parked.load())) std::this_thread::yield();
        sennit::sched::wake(*who);
    });
    sennit::sched::waiter who;
    sennit::sched::park(
        [](void* argument, sennit::sched::waiter& self) noexcept {
            static_cast<std::atomic<sennit::sched::waiter*>*>(argument)->store(&self);
            return true;
        },
        &parked, who);
    waker.join();
}

TEST(context, context_keeps_caught_exception_across_migration) {
    sennit::runtime runtime({.workers = 3});
    int migrations = 0;
    for (int round = 0; round < 30'000 && migrations < 5; ++round)
        runtime.run([&] {
            const auto before = here();
            try {
                throw std::runtime_error("travels");
            } catch (const std::runtime_error&) {
                move_somewhere();
                migrations += here() != before;
                EXPECT_EQ(std::uncaught_exceptions(), 0);
                try {
                    throw;
                } catch (const std::runtime_error& again) {
                    EXPECT_STREQ(again.what(), "travels");
                }
            }
            EXPECT_EQ(std::current_exception(), nullptr);
        });
    EXPECT_GT(migrations, 0) << "the test saw no migration";
}

TEST(context, context_has_its_own_count_of_uncaught_exceptions) {
    sennit::runtime runtime({.workers = 2});
    struct suspends_in_destructor {
        ~suspends_in_destructor() {
            EXPECT_EQ(std::uncaught_exceptions(), 1);
            sennit::sched::yield();
            EXPECT_EQ(std::uncaught_exceptions(), 1);
        }
    };
    runtime.run([] {
        auto [a, b] = sennit::fork_join(
            [] {
                try {
                    suspends_in_destructor guard;
                    throw 1;
                } catch (int) {
                }
                return std::uncaught_exceptions();
            },
            [] { return std::uncaught_exceptions(); });
        EXPECT_EQ(a + b, 0);
    });
}

TEST(context, context_reads_thread_local_of_current_thread) {
    sennit::runtime runtime({.workers = 3});
    int migrations = 0;
    for (int round = 0; round < 30'000 && migrations < 5; ++round)
        runtime.run([&] {
            const auto before = here();
            thread_locals_value() =
                static_cast<int>(std::hash<std::thread::id>{}(before) & 0xffff) + 1;
            move_somewhere();
            const auto after = here();
            migrations += before != after;
            if (before == after)
                EXPECT_EQ(thread_locals_value(),
                          static_cast<int>(std::hash<std::thread::id>{}(after) & 0xffff) + 1);
            else
                EXPECT_NE(thread_locals_value(),
                          static_cast<int>(std::hash<std::thread::id>{}(before) & 0xffff) + 1);
            thread_locals_value() = 0;
        });
    EXPECT_GT(migrations, 0) << "the test saw no migration";
}

TEST(context, context_keeps_rounding_mode) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        std::fesetround(FE_UPWARD);
        auto [a, b] = sennit::fork_join(
            [] {
                sennit::sched::yield();
                return std::fegetround();
            },
            [] { return 0; });
        EXPECT_EQ(a + b, FE_UPWARD);
        std::fesetround(FE_TONEAREST);
    });
}

TEST(context, context_waits_for_its_unjoined_fork_with_one_worker) {
    sennit::runtime runtime({.workers = 1});
    for (int round = 0; round < 100; ++round)
        EXPECT_EQ(runtime.run([] {
            sennit::sched::one_shot event;
            auto [a, b] = sennit::fork_join(
                [&] {
                    event.wait();
                    return 1;
                },
                [&] {
                    event.finish();
                    return 2;
                });
            return a + b;
        }),
                  3);
}

TEST(one_shot, one_shot_wakes_plain_thread) {
    for (int round = 0; round < 200; ++round) {
        sennit::sched::one_shot event;
        std::thread other([&] { event.finish(); });
        event.wait();
        EXPECT_TRUE(event.finished());
        EXPECT_FALSE(event.failed());
        other.join();
    }
}

TEST(verbs, scheduled_and_spawned_runnables_run_once) {
    struct item : sennit::sched::runnable {
        std::atomic<int>* left;
        sennit::sched::one_shot* end;
        item(std::atomic<int>* l, sennit::sched::one_shot* e)
            : runnable(&item::go), left(l), end(e) {}
        static void go(sennit::sched::runnable* self) noexcept {
            auto& me = *static_cast<item*>(self);
            if (me.left->fetch_sub(1) == 1) me.end->finish();
        }
    };
    for (unsigned workers : {1u, 2u, 8u}) {
        sennit::runtime runtime({.workers = workers});
        std::atomic<int> left{2000};
        sennit::sched::one_shot end;
        std::vector<std::unique_ptr<item>> items;
        for (int i = 0; i < 2000; ++i) items.push_back(std::make_unique<item>(&left, &end));
        for (int i = 0; i < 1000; ++i)
            sennit::sched::schedule(*items[static_cast<std::size_t>(i)], runtime.core());
        runtime.run([&] {
            for (int i = 1000; i < 2000; ++i)
                (i % 2 ? sennit::sched::spawn : sennit::sched::schedule)(
                    *items[static_cast<std::size_t>(i)], runtime.core());
        });
        end.wait();
        EXPECT_EQ(left, 0);
    }
}

} // namespace
