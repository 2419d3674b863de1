// SPDX-License-Identifier: Apache-2.0
// The messages of other threads in a mailbox: src/actors/runtime/remote_inbox.hpp.
#include "actors/runtime/remote_inbox.hpp"

#include "actors/runtime/prefetch_links.hpp"
#include "message_row.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

namespace mailbox_tests {
namespace {

using sennit::sched::inbox_list;
using sennit::sched::remote_inbox;
using sennit::sched::urgent_order;

TEST(remote_inbox, has_messages_from_a_push_until_they_are_taken) {
    message_row made;
    remote_inbox inbox;
    inbox_list all;
    urgent_order order;
    EXPECT_FALSE(inbox.has_messages());
    EXPECT_FALSE(inbox.may_have_messages());
    inbox.push(made.usual(1));
    EXPECT_TRUE(inbox.has_messages());
    EXPECT_TRUE(inbox.may_have_messages());
    inbox.take_all(all, order);
    EXPECT_FALSE(inbox.has_messages());
    EXPECT_FALSE(inbox.may_have_messages());
}

TEST(remote_inbox, gives_the_oldest_message_first) {
    message_row made;
    remote_inbox inbox;
    inbox_list all;
    urgent_order order;
    for (int n = 1; n <= 3; ++n) inbox.push(made.usual(n));
    inbox.take_all(all, order);
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 2, 3}));
}

TEST(remote_inbox, appends_behind_the_messages_of_the_list) {
    message_row made;
    remote_inbox inbox;
    inbox_list all;
    urgent_order order;
    order.add(all, made.usual(1));
    inbox.push(made.usual(2));
    inbox.take_all(all, order);
    order.add(all, made.usual(3));
    inbox.take_all(all, order); // an empty inbox changes nothing
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 2, 3}));
}

TEST(remote_inbox, puts_urgent_messages_behind_the_urgent_ones_of_the_list) {
    message_row made;
    remote_inbox inbox;
    inbox_list all;
    urgent_order order;
    order.add(all, made.usual(1));
    order.add(all, made.urgent(2));
    inbox.push(made.usual(3));
    inbox.push(made.urgent(4));
    inbox.push(made.usual(5));
    inbox.push(made.urgent(6));
    inbox.take_all(all, order);
    EXPECT_EQ(numbers_in(all), (row_of_numbers{2, 4, 6, 1, 3, 5}));
    EXPECT_EQ(number_of(order.last()), 6);
}

TEST(remote_inbox, counts_how_often_the_messages_were_taken) {
    message_row made;
    remote_inbox inbox;
    inbox_list all;
    urgent_order order;
    EXPECT_EQ(inbox.takes(), 0u);
    inbox.push(made.usual(1));
    EXPECT_EQ(inbox.takes(), 0u);
    inbox.take_all(all, order);
    inbox.take_all(all, order);
    EXPECT_EQ(inbox.takes(), 2u);
    inbox.push(made.usual(2));
    inbox.reset();
    EXPECT_EQ(inbox.takes(), 0u);
    EXPECT_FALSE(inbox.has_messages());
}

// The batch handles the messages oldest first, so the links must lead to younger messages.
TEST(remote_inbox, links_each_message_to_a_later_one_for_prefetches) {
    constexpr int count = 3 * sennit::sched::prefetch_links::steps;
    message_row made;
    remote_inbox inbox;
    inbox_list all;
    urgent_order order;
    for (int n = 0; n < count; ++n) inbox.push(made.usual(n));
    inbox.take_all(all, order);
    int linked = 0;
    for (const sennit::sched::message_node* one = all.first; one; one = one->next)
        linked += one->prefetch_offset != 0;
    EXPECT_EQ(linked, count - static_cast<int>(sennit::sched::prefetch_links::steps));
    EXPECT_NE(all.first->prefetch_offset, 0u);
    EXPECT_EQ(all.last->prefetch_offset, 0u);
}

TEST(remote_inbox, keeps_all_messages_of_concurrent_senders_in_the_order_of_each) {
    constexpr int senders = 3, count = 1000;
    std::vector<message_row> made(senders);
    remote_inbox inbox;
    std::latch start(senders + 1);
    std::vector<std::jthread> threads;
    for (int k = 0; k < senders; ++k)
        threads.emplace_back([&, k] {
            start.arrive_and_wait();
            for (int n = 0; n < count; ++n)
                inbox.push(made[static_cast<std::size_t>(k)].usual(k * count + n));
        });
    inbox_list all;
    urgent_order order;
    start.arrive_and_wait();
    for (int n = 0; n < 100; ++n) inbox.take_all(all, order); // beside the senders
    threads.clear();
    inbox.take_all(all, order);
    std::vector<int> next(senders, 0);
    for (const int number : numbers_in(all)) {
        const auto k = static_cast<std::size_t>(number / count);
        EXPECT_EQ(number % count, next[k]++) << "sender " << k;
    }
    EXPECT_EQ(next, std::vector<int>(senders, count));
}

} // namespace
} // namespace mailbox_tests
