// SPDX-License-Identifier: Apache-2.0
// A list of messages inside a mailbox, linked by `message_node::next`: the messages that wait, or
// the messages that a batch has taken. The list owns none of its messages.
//
// Threads. The list is a plain value without synchronisation. The lock of the mailbox's owner, or
// the batch, guards the mailbox's list (mailbox.hpp). A list in a local variable belongs to its
// thread.
//
// `last` is valid only while `first` is not null: code that empties the list sets `first` alone.
//
// Tested by tests/unit/actors/urgent_order_test.cpp.
#pragma once

#include "sennit/detail/core/message_node.hpp"

namespace sennit::sched {

struct inbox_list {
    message_node* first = nullptr;
    message_node* last = nullptr;

    void append(message_node& one) noexcept {
        one.next = nullptr;
        (first ? last->next : first) = &one;
        last = &one;
    }
    void prepend(message_node& one) noexcept {
        one.next = first;
        if (!first) last = &one;
        first = &one;
    }
    void append(inbox_list more) noexcept {
        if (!more.first) return;
        (first ? last->next : first) = more.first;
        last = more.last;
    }
    bool begins_urgently() const noexcept { return first && first->urgent; }
};

} // namespace sennit::sched
