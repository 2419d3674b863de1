// SPDX-License-Identifier: Apache-2.0
// Tests single-thread mode with a thread that is alone in the library, and with threads that come
// and go. tests/sim explores the protocol; these tests run it on real threads.
#include "../../support/alone.hpp"
#include "sennit/channel.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"
#include "sennit/runtime.hpp"
#include "sennit/this_fiber.hpp"
#include "sys/single_threaded.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using sennit::base::thread_registration;
using sennit::sys::single_thread_mode;

// The key without the bias id.
std::uint32_t mode_of(const thread_registration& who) {
    const std::uint32_t key = who.key.load();
    const bool has_id = key != thread_registration::exclusive && key >> 16 == who.id.load();
    return has_id ? std::uint32_t{thread_registration::shared} : key;
}

TEST(single_thread_mode, only_thread_becomes_exclusive) {
    single_thread_mode all;
    thread_registration one, other;
    all.register_thread(one, 0);
    EXPECT_EQ(mode_of(one), thread_registration::shared)
        << "the thread has not asked for exclusive mode";
    all.try_become_exclusive(one, 0);
    EXPECT_EQ(mode_of(one), thread_registration::exclusive);
    all.register_thread(other, 0);
    EXPECT_EQ(mode_of(one), thread_registration::shared);
    EXPECT_EQ(mode_of(other), thread_registration::shared);
    all.unregister_thread(other, 0);
    EXPECT_EQ(mode_of(one), thread_registration::exclusive);
    EXPECT_EQ(mode_of(other), thread_registration::unregistered);
    all.unregister_thread(one, 0);
    EXPECT_EQ(mode_of(one), thread_registration::unregistered);
}

// A deactivated spare worker once came back in this way. It was taken for the only registered
// worker, so the locks that it shared with that worker did not exclude. When the spare worker
// unregistered again, the count of registered threads was too low by one.
TEST(single_thread_mode, unregistered_thread_is_not_taken_for_only_thread) {
    single_thread_mode all;
    thread_registration one, other;
    all.register_thread(one, 0);
    all.register_thread(other, 0);
    all.unregister_thread(other, 0);
    all.try_become_exclusive(other, 0);
    EXPECT_EQ(mode_of(other), thread_registration::unregistered);
    EXPECT_EQ(mode_of(one), thread_registration::shared);
}

TEST(single_thread_mode, thread_that_does_not_ask_stays_shared) {
    single_thread_mode all;
    thread_registration one, other;
    all.register_thread(one, 0);
    all.register_thread(other, 0);
    all.unregister_thread(other, 0);
    EXPECT_EQ(mode_of(one), thread_registration::shared);
}

TEST(single_thread_mode, thread_that_asked_before_registers_as_exclusive) {
    single_thread_mode all;
    thread_registration one, other;
    all.register_thread(one, 0);
    all.try_become_exclusive(one, 0);
    one.wants_exclusive = true; // try_become_exclusive sets this flag, too.
    all.unregister_thread(one, 0);
    all.register_thread(one, 0);
    EXPECT_EQ(mode_of(one), thread_registration::exclusive);
    all.unregister_thread(one, 0);
    all.register_thread(other, 0);
    all.register_thread(one, 0);
    EXPECT_EQ(mode_of(one), thread_registration::shared) << "another thread is registered";
}

// A thread may end in a way that prevents it from unregistering. The mode does not read the
// registration of such a thread again. (A worker, which asks for exclusive mode, always
// unregisters.)
TEST(single_thread_mode, registration_of_ended_thread_is_not_read) {
    single_thread_mode all;
    thread_registration one;
    all.register_thread(one, 0);
    all.try_become_exclusive(one, 0);
    {
        thread_registration gone;
        all.register_thread(gone, 0);
    }
    all.unregister_thread(one, 0);
    thread_registration next;
    all.register_thread(next, 0);
    all.try_become_exclusive(next, 0);
    EXPECT_EQ(mode_of(next), thread_registration::shared)
        << "the thread that ended is still counted";
}

// Workers that woke for a moment once left a busy worker in shared mode until its next global poll,
// and a long task makes none: each lock of that task took twice as long.
TEST(single_thread_mode, last_thread_becomes_exclusive_after_visits_of_others) {
    single_thread_mode all;
    thread_registration one, two, three;
    for (thread_registration* each : {&one, &two, &three}) {
        all.register_thread(*each, 0);
        all.try_become_exclusive(*each, 0);
    }
    all.unregister_thread(three, 0);
    EXPECT_EQ(mode_of(one), thread_registration::shared);
    all.unregister_thread(two, 0);
    EXPECT_EQ(mode_of(one), thread_registration::exclusive);
}

TEST(single_thread_mode, more_threads_than_places_ask) {
    single_thread_mode all;
    std::vector<thread_registration> many(40);
    for (thread_registration& each : many) {
        all.register_thread(each, 0);
        all.try_become_exclusive(each, 0);
    }
    for (std::size_t i = 0; i + 1 < many.size(); ++i) all.unregister_thread(many[i], 0);
    all.try_become_exclusive(many.back(), 0);
    EXPECT_EQ(mode_of(many.back()), thread_registration::exclusive);
}

TEST(single_thread_mode, frequent_revocations_suspend_exclusive_mode) {
    single_thread_mode all;
    thread_registration one, visitor;
    all.register_thread(one, 0);
    all.try_become_exclusive(one, 0);
    int ends = 0;
    while (mode_of(one) == thread_registration::exclusive && ends < 1000) {
        all.register_thread(visitor, 0);
        all.unregister_thread(visitor, 0);
        ++ends;
    }
    EXPECT_GT(ends, 1);
    EXPECT_LT(ends, 1000);
    all.try_become_exclusive(one, 1'000'000'000);
    EXPECT_EQ(mode_of(one), thread_registration::exclusive) << "a second later";
}

TEST(single_thread_mode, child_of_fork_is_only_thread) {
    single_thread_mode all;
    thread_registration parent, other;
    all.register_thread(other, 0);
    all.try_become_exclusive(other, 0);
    all.register_thread(parent, 0);
    all.reset_after_fork(parent);
    all.try_become_exclusive(parent, 0);
    EXPECT_EQ(mode_of(parent), thread_registration::exclusive);
    thread_registration unregistered;
    all.reset_after_fork(unregistered);
    EXPECT_FALSE(all.may_be_only_thread());
}

// The worker is the only registered thread, because the thread that created the runtime sleeps in
// `run`.
TEST(single_thread_mode, only_worker_becomes_exclusive) {
    if (!elision_is_on()) GTEST_SKIP();
    sennit::runtime one({.workers = 1});
    one.run([] {
        while (!exclusive_now()) sennit::this_fiber::yield();
        std::thread visitor([] {
            EXPECT_FALSE(exclusive_now());
            sennit::mutex mutex;
            std::lock_guard guard(mutex);
        });
        visitor.join();
        while (!exclusive_now()) sennit::this_fiber::yield(); // The visitor has ended.
    });
}

TEST(single_thread_mode, two_busy_workers_stay_shared) {
    sennit::runtime two({.workers = 2});
    std::atomic<int> alone{0};
    two.run([&] {
        std::atomic<bool> begun{false}, over{false};
        sennit::mutex mutex;
        sennit::fiber by_the_other([&] {
            mutex.lock(); // Registers the thread.
            mutex.unlock();
            begun = true;
            while (!over) std::this_thread::yield();
        });
        while (!begun) std::this_thread::yield();
        for (int i = 0; i < 1000; ++i) alone += exclusive_now();
        over = true;
        by_the_other.join();
    });
    EXPECT_EQ(alone, 0);
}

TEST(single_thread_mode, worker_is_exclusive_while_other_worker_sleeps) {
    if (!elision_is_on()) GTEST_SKIP();
    sennit::runtime two({.workers = 2});
    two.run([&] {
        while (!exclusive_now()) sennit::this_fiber::yield();
    });
}

// Threads come, take the locks that a worker takes all the time, and end.
TEST(single_thread_mode, locks_exclude_worker_and_short_lived_threads) {
    constexpr int visitors = 200, each = 50;
    sennit::runtime one({.workers = 1});
    sennit::mutex mutex;
    sennit::base::spin_lock spin;
    long by_mutex = 0, by_spin = 0;
    std::atomic<bool> done{false};
    const auto count = [&] {
        {
            std::lock_guard guard(mutex);
            ++by_mutex;
        }
        std::lock_guard guard(spin);
        ++by_spin;
    };
    long by_worker = 0;
    std::thread crowd([&] {
        for (int i = 0; i < visitors; ++i)
            std::thread([&] {
                for (int k = 0; k < each; ++k) count();
            }).join();
        done = true;
    });
    one.run([&] {
        while (!done) {
            for (int i = 0; i < 100; ++i) count();
            by_worker += 100;
            sennit::this_fiber::yield();
        }
    });
    crowd.join();
    EXPECT_EQ(by_mutex, by_worker + visitors * each);
    EXPECT_EQ(by_spin, by_worker + visitors * each);
}

// A thread that sleeps in the library is not registered during its sleep. Each message therefore
// ends exclusive mode, or the worker does not seek it.
TEST(single_thread_mode, messages_between_worker_and_thread_arrive) {
    constexpr int messages = 2000;
    sennit::runtime one({.workers = 1});
    sennit::channel<int> there, back;
    std::thread echo([&] {
        for (const int value : there) back.push(value + 1);
        back.close();
    });
    long sum = 0;
    one.run([&] {
        for (int i = 0; i < messages; ++i) {
            there.push(i);
            sum += back.pop().value_or(-1);
        }
        there.close();
    });
    echo.join();
    EXPECT_EQ(sum, long{messages} * (messages + 1) / 2);
}

TEST(single_thread_mode, child_of_fork_uses_locks) {
    sennit::runtime one({.workers = 1});
    one.run([] {});
    const pid_t child = ::fork();
    if (child == 0) {
        sennit::mutex mutex;
        for (int i = 0; i < 100; ++i) std::lock_guard guard(mutex);
        ::_exit(42);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
}

} // namespace
