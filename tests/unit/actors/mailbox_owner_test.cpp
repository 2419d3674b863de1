// SPDX-License-Identifier: Apache-2.0
// The owner of a mailbox: src/actors/runtime/mailbox_owner.hpp.
#include "actors/runtime/mailbox_owner.hpp"

#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"

#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace mailbox_tests {
namespace {

using sennit::sched::mailbox_owner;
using sennit::sched::this_worker;
using sennit::sched::worker;

struct mailbox_owner_test : testing::Test {
    sennit::runtime runtime{{.workers = 2}};
    worker& first = runtime.core().worker_at(0);
    worker& second = runtime.core().worker_at(1);
    mailbox_owner owner;

    // The worker that does not run the calling context.
    worker& other_than(const worker& me) { return &me == &first ? second : first; }
};

TEST_F(mailbox_owner_test, has_no_owner_and_no_runtime_at_first) {
    EXPECT_EQ(owner.get(), nullptr);
    EXPECT_EQ(owner.runtime_or_null(), nullptr);
    EXPECT_FALSE(owner.is(first));
}

TEST_F(mailbox_owner_test, belongs_to_the_worker_and_the_runtime_that_take_it) {
    owner.attach(runtime.core(), second);
    EXPECT_EQ(owner.get(), &second);
    EXPECT_TRUE(owner.is(second));
    EXPECT_TRUE(owner.is_probably(second));
    EXPECT_FALSE(owner.is(first));
    EXPECT_FALSE(owner.is_probably(first));
    EXPECT_EQ(&owner.runtime(), &runtime.core());
    owner.detach();
    EXPECT_EQ(owner.runtime_or_null(), nullptr);
}

TEST_F(mailbox_owner_test, is_in_transit_without_owner) {
    owner.attach(runtime.core(), first);
    owner.clear();
    EXPECT_EQ(owner.get(), nullptr);
    EXPECT_FALSE(owner.is(first));
    owner.give_to(&second);
    EXPECT_TRUE(owner.is(second));
    owner.give_to(nullptr);
    EXPECT_EQ(owner.get(), nullptr);
}

TEST_F(mailbox_owner_test, stays_with_the_owner_that_acquires_it) {
    runtime.run([&] {
        worker& me = *this_worker();
        owner.attach(runtime.core(), me);
        EXPECT_TRUE(owner.acquire(me));
        EXPECT_TRUE(owner.is(me));
    });
}

TEST_F(mailbox_owner_test, is_acquired_in_transit_without_a_lock) {
    runtime.run([&] {
        worker& me = *this_worker();
        owner.attach(runtime.core(), other_than(me));
        owner.clear();
        EXPECT_TRUE(owner.acquire(me));
        EXPECT_TRUE(owner.is(me));
    });
}

TEST_F(mailbox_owner_test, is_acquired_from_another_worker) {
    runtime.run([&] {
        worker& me = *this_worker();
        owner.attach(runtime.core(), other_than(me));
        while (!owner.acquire(*this_worker())) {
        }
        EXPECT_TRUE(owner.is(*this_worker()));
    });
}

// Another thread is inside the owner's lock until this thread has asked for the ownership.
TEST_F(mailbox_owner_test, is_acquired_only_inside_the_lock_of_the_present_owner) {
    runtime.run([&] {
        worker& me = *this_worker();
        worker& present = other_than(me);
        owner.attach(runtime.core(), present);
        std::latch inside(1), asked(1);
        std::atomic<bool> left{false};
        std::thread thief([&] {
            const auto hold = [&]() noexcept {
                inside.count_down();
                asked.wait();
                for (int n = 0; n < 100; ++n) std::this_thread::yield();
                EXPECT_TRUE(owner.is(present));
                left = true;
            };
            while (!present.queue().with_remote_lock(hold)) std::this_thread::yield();
        });
        inside.wait();
        asked.count_down();
        while (!owner.acquire(*this_worker())) {
        }
        EXPECT_TRUE(left);
        EXPECT_TRUE(owner.is(*this_worker()));
        thief.join();
    });
}

} // namespace
} // namespace mailbox_tests
