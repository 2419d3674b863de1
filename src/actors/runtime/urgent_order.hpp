// SPDX-License-Identifier: Apache-2.0
// The order of urgent messages in one mailbox: urgent messages go before usual ones, in their own
// order.
//
// Threads. Only a thread that may touch the mailbox's list calls these functions: the batch, or a
// thread inside the lock of the mailbox's owner.
//
// State. The mailbox's list holds the urgent messages first, then the usual ones. `last_` points to
// the last urgent message, so one more urgent message costs the same however many wait, and so do
// all urgent messages of the remote inbox. The pointer is valid only where the list begins with an
// urgent message. Code that takes the list, or its urgent messages, leaves the pointer as it is,
// and usual messages never touch it.
//
// A batch takes the list and remembers the pointer, because messages that are sent to the mailbox
// meanwhile begin a new list and overwrite the pointer. When the batch leaves some of the messages
// that it took, those and the new list become one list again, with the urgent messages of both in
// front. So urgent messages from one sender stay in order, also across batches.
//
// Tested by tests/unit/actors/urgent_order_test.cpp and urgent_test.cpp.
#pragma once

#include "actors/runtime/inbox_list.hpp"

namespace sennit::sched {

class urgent_order {
public:
    // Adds a message to the mailbox's list.
    void add(inbox_list& into, message_node& one) noexcept {
        if (one.urgent) [[unlikely]]
            overtake(into, {&one, &one});
        else
            into.append(one);
    }
    // Adds a list of urgent messages, which is not empty, behind the urgent messages of `into`:
    // the mailbox's list, or, in a batch, the list that was the mailbox's.
    [[gnu::noinline]] void overtake(inbox_list& into, inbox_list urgent) noexcept;
    // In a batch that leaves `rest`. `last` is the last urgent message of the list when the batch
    // took it. Moves the urgent messages of `present`, the mailbox's list, to `rest`. Returns the
    // list that goes before `present`.
    [[gnu::noinline]] inbox_list left_over(inbox_list rest, message_node* last,
                                           inbox_list& present) noexcept;
    // The last urgent message of the mailbox's list, if the list begins with an urgent message.
    message_node* last() const noexcept { return last_; }

private:
    message_node* last_ = nullptr;
};

} // namespace sennit::sched
