// SPDX-License-Identifier: Apache-2.0
// The list of messages in a mailbox, and the order of the urgent messages in it:
// src/actors/runtime/inbox_list.hpp and urgent_order.hpp.
#include "actors/runtime/urgent_order.hpp"
#include "message_row.hpp"

#include <gtest/gtest.h>

namespace mailbox_tests {
namespace {

using sennit::sched::inbox_list;
using sennit::sched::urgent_order;

TEST(inbox_list, appends_messages_and_lists_at_the_end) {
    message_row made;
    inbox_list all, more, none;
    all.append(made.usual(1));
    all.append(made.usual(2));
    all.append(none);
    more.append(made.usual(3));
    more.append(made.usual(4));
    all.append(more);
    all.append(made.usual(5));
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 2, 3, 4, 5}));
}

TEST(inbox_list, appends_a_list_to_an_empty_list) {
    message_row made;
    inbox_list all, more;
    more.append(made.usual(1));
    all.append(more);
    all.append(made.usual(2));
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 2}));
}

TEST(inbox_list, prepends_messages_at_the_front) {
    message_row made;
    inbox_list all;
    all.prepend(made.usual(2));
    all.prepend(made.usual(1));
    all.append(made.usual(3));
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 2, 3}));
}

TEST(inbox_list, begins_urgently_only_with_an_urgent_first_message) {
    message_row made;
    inbox_list all;
    EXPECT_FALSE(all.begins_urgently());
    all.append(made.usual(1));
    all.append(made.urgent(2));
    EXPECT_FALSE(all.begins_urgently());
    all.prepend(made.urgent(3));
    EXPECT_TRUE(all.begins_urgently());
}

TEST(urgent_order, puts_urgent_messages_before_usual_ones_in_their_own_order) {
    message_row made;
    inbox_list all;
    urgent_order order;
    order.add(all, made.usual(1));
    order.add(all, made.urgent(2));
    order.add(all, made.usual(3));
    order.add(all, made.urgent(4));
    EXPECT_EQ(numbers_in(all), (row_of_numbers{2, 4, 1, 3}));
    EXPECT_EQ(number_of(order.last()), 4);
}

TEST(urgent_order, appends_behind_an_urgent_message_that_is_the_whole_list) {
    message_row made;
    inbox_list all;
    urgent_order order;
    order.add(all, made.urgent(1));
    order.add(all, made.urgent(2));
    order.add(all, made.usual(3));
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 2, 3}));
}

TEST(urgent_order, puts_a_list_of_urgent_messages_behind_earlier_urgent_messages) {
    message_row made;
    inbox_list all, urgent;
    urgent_order order;
    order.add(all, made.urgent(1));
    order.add(all, made.usual(2));
    urgent.append(made.urgent(3));
    urgent.append(made.urgent(4));
    order.overtake(all, urgent);
    order.add(all, made.urgent(5));
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 3, 4, 5, 2}));
}

TEST(urgent_order, begins_anew_after_the_list_has_been_taken) {
    message_row made;
    inbox_list all;
    urgent_order order;
    order.add(all, made.urgent(1));
    all.first = nullptr; // a batch takes the list
    order.add(all, made.usual(2));
    order.add(all, made.urgent(3));
    EXPECT_EQ(numbers_in(all), (row_of_numbers{3, 2}));
}

// A batch takes 1 (urgent), 2, handles neither, and meanwhile 3 (urgent) and 4 arrive.
TEST(urgent_order, keeps_urgent_messages_in_order_across_two_batches) {
    message_row made;
    inbox_list present;
    urgent_order order;
    order.add(present, made.urgent(1));
    order.add(present, made.usual(2));
    const inbox_list taken = present;
    sennit::sched::message_node* const last = order.last();
    present.first = nullptr;
    order.add(present, made.urgent(3));
    order.add(present, made.usual(4));
    inbox_list all = order.left_over(taken, last, present);
    all.append(present);
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 3, 2, 4}));
    order.add(all, made.urgent(5));
    EXPECT_EQ(numbers_in(all), (row_of_numbers{1, 3, 5, 2, 4}));
}

TEST(urgent_order, moves_new_urgent_messages_before_the_usual_rest) {
    message_row made;
    inbox_list taken, present;
    urgent_order order;
    order.add(taken, made.usual(1));
    order.add(present, made.urgent(2));
    inbox_list all = order.left_over(taken, order.last(), present);
    EXPECT_EQ(present.first, nullptr);
    EXPECT_EQ(numbers_in(all), (row_of_numbers{2, 1}));
}

TEST(urgent_order, leaves_new_messages_alone_after_a_batch_that_leaves_none) {
    message_row made;
    inbox_list present;
    urgent_order order;
    order.add(present, made.urgent(1));
    EXPECT_EQ(order.left_over({}, nullptr, present).first, nullptr);
    EXPECT_EQ(numbers_in(present), (row_of_numbers{1}));
    EXPECT_EQ(number_of(order.last()), 1);
}

} // namespace
} // namespace mailbox_tests
