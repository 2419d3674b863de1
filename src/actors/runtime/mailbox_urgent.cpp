// SPDX-License-Identifier: Apache-2.0
// Mailboxes: urgent mail, which goes before what is not, in its own order.
//
// What waits in the owner's list is urgent first, then usual. The last urgent piece is known, so
// that one more, or all that have come from afar, cost the same however many wait. The word says
// something only where the list begins with an urgent piece: who takes the list, or its urgent
// pieces, leaves the word as it is, and usual mail never looks at it.
//
// A turn takes the list and remembers the word, as what is sent to it meanwhile begins a new list
// and writes the word anew. When it leaves some of what it took, that and the new list become one
// again, with the urgent of both in front; so urgent mail from one sender stays in order, also
// across turns.
#include "actors/runtime/mailbox.hpp"

#include <cstddef>

namespace sennit::sched {

// `into`: the mailbox's list, or in a turn what was that. `urgent` are all so, and there are some.
void mailbox::overtake(list& into, list urgent) noexcept {
    message_node*& place = into.begins_urgently() ? last_urgent_->next : into.first;
    if (!(urgent.last->next = place)) into.last = urgent.last;
    place = urgent.first;
    last_urgent_ = urgent.last;
}

// In a turn that leaves `rest`, of which that was the last urgent piece when it was taken. Returns
// what goes before what is in the mailbox's list then.
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
// SAFETY: a notice is made only as this part of a mailbox. offsetof in a class that is not of
// standard layout is conditionally supported; g++ and clang support it for all without virtual
// bases.
mailbox& mailbox::of(wakeup& mine) noexcept {
    return *reinterpret_cast<mailbox*>(reinterpret_cast<std::byte*>(&mine) -
                                       offsetof(mailbox, wakeup_));
}
#pragma GCC diagnostic pop

} // namespace sennit::sched
