// SPDX-License-Identifier: Apache-2.0
// Room in a bounded mailbox: src/actors/runtime/mailbox_capacity.hpp.
#include "actors/runtime/mailbox_capacity.hpp"
#include "message_row.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace mailbox_tests {
namespace {

using sennit::sched::address;
using sennit::sched::delivery;
using sennit::sched::incarnation_counter;
using sennit::sched::mailbox_capacity;
using sennit::sched::message_node;
using sennit::sched::when_full;

constexpr std::uint32_t slot = 5;

TEST(mailbox_capacity, is_unbounded_at_first) {
    const mailbox_capacity capacity;
    EXPECT_FALSE(capacity.bounded());
    EXPECT_EQ(capacity.queued(), 0u);
}

TEST(mailbox_capacity, keeps_the_bound_and_the_policy_apart) {
    mailbox_capacity capacity;
    capacity.set_bound(6, when_full::drop_newest);
    EXPECT_TRUE(capacity.bounded());
    EXPECT_EQ(capacity.room(), 6u);
    EXPECT_EQ(capacity.policy(), when_full::drop_newest);
    capacity.set_bound(UINT32_MAX, when_full::drop_oldest);
    EXPECT_EQ(capacity.room(), mailbox_capacity::max_room);
    EXPECT_EQ(capacity.policy(), when_full::drop_oldest);
    capacity.set_bound(0, when_full::refuse);
    EXPECT_FALSE(capacity.bounded());
}

TEST(mailbox_capacity, refuses_messages_beyond_the_bound_until_room_returns) {
    message_row made;
    mailbox_capacity capacity;
    capacity.set_bound(2, when_full::refuse);
    message_node& refused = made.usual(3);
    EXPECT_EQ(capacity.reserve(made.usual(1)), delivery::sent);
    EXPECT_TRUE(capacity.has_room());
    EXPECT_EQ(capacity.reserve(made.usual(2)), delivery::sent);
    EXPECT_FALSE(capacity.has_room());
    EXPECT_EQ(capacity.reserve(refused), delivery::full);
    EXPECT_FALSE(refused.counted);
    EXPECT_EQ(capacity.queued(), 2u) << "a refused message is not counted";
    EXPECT_TRUE(capacity.release(slot));
    EXPECT_EQ(capacity.reserve(refused), delivery::sent);
    EXPECT_TRUE(refused.counted);
}

TEST(mailbox_capacity, counts_a_message_once) {
    message_row made;
    mailbox_capacity capacity;
    capacity.set_bound(2, when_full::refuse);
    message_node& one = made.usual(1);
    EXPECT_EQ(capacity.reserve(one), delivery::sent);
    EXPECT_EQ(capacity.reserve(one), delivery::sent);
    EXPECT_EQ(capacity.queued(), 1u);
    capacity.unreserve(one, slot);
    capacity.unreserve(one, slot);
    EXPECT_FALSE(one.counted);
    EXPECT_EQ(capacity.queued(), 0u);
}

TEST(mailbox_capacity, drops_the_oldest_messages_down_to_the_bound) {
    message_row made;
    mailbox_capacity capacity;
    capacity.set_bound(1, when_full::drop_oldest);
    for (int n = 1; n <= 4; ++n) EXPECT_EQ(capacity.reserve(made.usual(n)), delivery::sent);
    EXPECT_EQ(capacity.reserve(made.usual(5)), delivery::full) << "four times the bound at most";
    for (int n = 1; n <= 3; ++n) EXPECT_FALSE(capacity.release(slot)) << n << " is dropped";
    EXPECT_TRUE(capacity.release(slot)) << "the newest message is handled";
}

TEST(mailbox_capacity, drops_no_message_under_another_policy) {
    message_row made;
    mailbox_capacity capacity;
    capacity.set_bound(2, when_full::drop_newest);
    (void)capacity.reserve(made.usual(1));
    (void)capacity.reserve(made.usual(2));
    capacity.set_bound(1, when_full::drop_newest); // of the next incarnation; the count stays
    EXPECT_EQ(capacity.queued(), 2u);
    EXPECT_TRUE(capacity.release(slot));
    EXPECT_TRUE(capacity.release(slot));
}

TEST(mailbox_capacity, does_not_block_a_sender_while_there_is_room) {
    incarnation_counter present(slot);
    present.begin();
    mailbox_capacity capacity;
    capacity.set_bound(1, when_full::wait);
    EXPECT_TRUE(capacity.wait_for_room(present, present.self(), &capacity));
}

TEST(mailbox_capacity, does_not_block_a_sender_to_an_ended_incarnation) {
    message_row made;
    incarnation_counter present(slot);
    present.begin();
    const address to = present.self();
    present.end();
    mailbox_capacity capacity;
    capacity.set_bound(1, when_full::wait);
    (void)capacity.reserve(made.usual(1));
    EXPECT_TRUE(capacity.wait_for_room(present, to, &capacity));
}

TEST(mailbox_capacity, wakes_a_waiting_sender_when_room_returns) {
    message_row made;
    incarnation_counter present(slot);
    present.begin();
    mailbox_capacity capacity;
    capacity.set_bound(1, when_full::wait);
    (void)capacity.reserve(made.usual(1));
    message_node& second = made.usual(2);
    std::thread sender([&] {
        while (capacity.reserve(second) == delivery::full)
            EXPECT_TRUE(capacity.wait_for_room(present, present.self(), &capacity));
    });
    while (!capacity.senders_wait()) std::this_thread::yield();
    EXPECT_TRUE(capacity.release(slot));
    sender.join();
    EXPECT_TRUE(second.counted);
    EXPECT_EQ(capacity.queued(), 1u);
    EXPECT_FALSE(capacity.senders_wait());
}

TEST(mailbox_capacity, is_empty_and_unbounded_after_a_reset) {
    message_row made;
    mailbox_capacity capacity;
    capacity.set_bound(1, when_full::refuse);
    (void)capacity.reserve(made.usual(1));
    capacity.reset();
    EXPECT_FALSE(capacity.bounded());
    EXPECT_EQ(capacity.queued(), 0u);
}

} // namespace
} // namespace mailbox_tests
