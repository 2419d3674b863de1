// SPDX-License-Identifier: Apache-2.0
// One thread alone with the library, and others that come and go. The protocol is explored by tests/sim; here it runs.
#include "../../support/alone.hpp"
#include "sennit/base/company.hpp"
#include "sennit/base/spin_lock.hpp"
#include "sennit/channel.hpp"
#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"
#include "sennit/runtime.hpp"
#include "sennit/this_fiber.hpp"
#include "sys/company.hpp"
#include "sys/membarrier.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using sennit::base::membership;
using sennit::sys::company;

std::uint32_t standing_of(const membership& who) {
    return who.standing.load();
}

TEST(Company, one_member_that_seeks_solitude_has_it) {
    company all;
    membership one, other;
    all.join(one, 0);
    EXPECT_EQ(standing_of(one), membership::in_company) << "it has not sought it";
    all.seek_solitude(one, 0);
    EXPECT_EQ(standing_of(one), membership::alone);
    all.join(other, 0);
    EXPECT_EQ(standing_of(one), membership::in_company);
    EXPECT_EQ(standing_of(other), membership::in_company);
    all.leave(other, 0);
    EXPECT_EQ(standing_of(one), membership::alone);
    EXPECT_EQ(standing_of(other), membership::stranger);
    all.leave(one, 0);
    EXPECT_EQ(standing_of(one), membership::stranger);
}

// A relief that had stood down came back so: it was taken for the worker that was the only member, locks that both
// took did not exclude, and when it left again a member less was counted.
TEST(Company, who_has_left_is_not_taken_for_the_one_that_is_left) {
    company all;
    membership one, other;
    all.join(one, 0);
    all.join(other, 0);
    all.leave(other, 0);
    all.seek_solitude(other, 0);
    EXPECT_EQ(standing_of(other), membership::stranger);
    EXPECT_EQ(standing_of(one), membership::in_company);
}

TEST(Company, who_does_not_seek_solitude_is_in_company) {
    company all;
    membership one, other;
    all.join(one, 0);
    all.join(other, 0);
    all.leave(other, 0);
    EXPECT_EQ(standing_of(one), membership::in_company);
}

TEST(Company, a_member_that_has_sought_solitude_has_it_when_it_joins_again_alone) {
    company all;
    membership one, other;
    all.join(one, 0);
    all.seek_solitude(one, 0);
    one.seeks_solitude = true; // as the company of a process notes it
    all.leave(one, 0);
    all.join(one, 0);
    EXPECT_EQ(standing_of(one), membership::alone);
    all.leave(one, 0);
    all.join(other, 0);
    all.join(one, 0);
    EXPECT_EQ(standing_of(one), membership::in_company) << "another one is there";
}

// A thread may end in some way in which it cannot leave; its membership is not looked at then.
TEST(Company, one_that_did_not_leave_is_not_looked_at) {
    company all;
    membership one;
    all.join(one, 0);
    all.seek_solitude(one, 0);
    {
        membership gone;
        all.join(gone, 0);
        all.seek_solitude(gone, 0);
        all.seek_solitude(one, 0);
    }
    all.leave(one, 0);
    membership next;
    all.join(next, 0);
    all.seek_solitude(next, 0);
    EXPECT_EQ(standing_of(next), membership::in_company) << "the other counts";
}

TEST(Company, solitudes_that_end_all_the_time_are_given_up_for_a_while) {
    company all;
    membership one, visitor;
    all.join(one, 0);
    all.seek_solitude(one, 0);
    int ends = 0;
    while (standing_of(one) == membership::alone && ends < 1000) {
        all.join(visitor, 0);
        all.leave(visitor, 0);
        ++ends;
    }
    EXPECT_GT(ends, 1);
    EXPECT_LT(ends, 1000);
    all.seek_solitude(one, 1'000'000'000);
    EXPECT_EQ(standing_of(one), membership::alone) << "a second later";
}

TEST(Company, the_child_of_a_fork_is_the_only_member) {
    company all;
    membership parent, other;
    all.join(other, 0);
    all.seek_solitude(other, 0);
    all.join(parent, 0);
    all.survived_fork(parent);
    all.seek_solitude(parent, 0);
    EXPECT_EQ(standing_of(parent), membership::alone);
    membership stranger;
    all.survived_fork(stranger);
    EXPECT_FALSE(all.may_be_one());
}

#ifndef SENNIT_ALWAYS_IN_COMPANY

// As long as nobody else uses the library: the thread that has made the runtime sleeps in `run`.
TEST(Company, the_only_worker_comes_to_be_alone) {
    if (!sennit::sys::barrier_available()) GTEST_SKIP();
    sennit::runtime one({.workers = 1});
    one.run([] {
        while (!alone_now()) sennit::this_fiber::yield();
        std::thread visitor([] {
            EXPECT_FALSE(alone_now());
            sennit::mutex mutex;
            std::lock_guard guard(mutex);
        });
        visitor.join();
        while (!alone_now()) sennit::this_fiber::yield(); // it has ended
    });
}

TEST(Company, two_busy_workers_are_not_alone) {
    sennit::runtime two({.workers = 2});
    std::atomic<int> alone{0};
    two.run([&] {
        std::atomic<bool> begun{false}, over{false};
        sennit::mutex mutex;
        sennit::fiber by_the_other([&] {
            mutex.lock(); // joins
            mutex.unlock();
            begun = true;
            while (!over) std::this_thread::yield();
        });
        while (!begun) std::this_thread::yield();
        for (int i = 0; i < 1000; ++i) alone += alone_now();
        over = true;
        by_the_other.join();
    });
    EXPECT_EQ(alone, 0);
}

TEST(Company, a_worker_is_alone_while_the_other_one_sleeps) {
    sennit::runtime two({.workers = 2});
    two.run([&] {
        while (!alone_now()) sennit::this_fiber::yield();
    });
}

#endif

// Threads come, lock the same things as a worker does all the while, and go.
TEST(Company, nothing_is_lost_between_a_worker_and_threads_that_come_and_go) {
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

// A thread that sleeps in the library is no member meanwhile; each message ends a solitude, or none is sought.
TEST(Company, messages_between_a_worker_and_a_thread_arrive) {
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

TEST(Company, a_child_of_a_fork_uses_locks) {
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
