// SPDX-License-Identifier: Apache-2.0
// Mailboxes: urgent messages, which go before usual ones, in their own order.
//
// The owner's list holds the urgent messages first, then the usual ones. `last_urgent_` points to
// the last urgent message. So one more urgent message, or all that have come on `remote_`, cost the
// same however many wait. The pointer is valid only where the list begins with an urgent message.
// Code that takes the list, or its urgent messages, leaves the pointer as it is, and usual messages
// never touch it.
//
// A batch takes the list and remembers the pointer, because messages that are sent to the mailbox
// meanwhile begin a new list and overwrite the pointer. When the batch leaves some of the messages
// that it took, those and the new list become one list again, with the urgent messages of both in
// front. So urgent messages from one sender stay in order, also across batches.
#include "actors/runtime/mailbox.hpp"

#include <cstddef>

namespace sennit::sched {

// `into`: the mailbox's list, or, in a batch, the list that was the mailbox's. `urgent`: a list of
// urgent messages, not empty.
void mailbox::overtake(list& into, list urgent) noexcept {
    message_node*& place = into.begins_urgently() ? last_urgent_->next : into.first;
    if (!(urgent.last->next = place)) into.last = urgent.last;
    place = urgent.first;
    last_urgent_ = urgent.last;
}

// In a batch that leaves `rest`. `last_urgent`: the last urgent message of the list when the batch
// took it. Returns the list that goes before the mailbox's present list.
mailbox::list mailbox::left_over(list rest, message_node* last_urgent) noexcept {
    if (!rest.first) return rest;
    message_node* const newest = last_urgent_;
    if (rest.begins_urgently()) last_urgent_ = last_urgent;
    if (!local_messages_.begins_urgently()) return rest;
    const list urgent{local_messages_.first, newest};
    local_messages_.first = newest->next;
    overtake(rest, urgent);
    return rest;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
// SAFETY: a wakeup exists only as this member of a mailbox. offsetof in a class that is not of
// standard layout is conditionally supported; g++ and clang support it for all classes without
// virtual bases.
mailbox& mailbox::of(wakeup& mine) noexcept {
    return *reinterpret_cast<mailbox*>(reinterpret_cast<std::byte*>(&mine) -
                                       offsetof(mailbox, wakeup_));
}
#pragma GCC diagnostic pop

} // namespace sennit::sched
