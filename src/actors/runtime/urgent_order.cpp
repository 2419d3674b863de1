// SPDX-License-Identifier: Apache-2.0
#include "actors/runtime/urgent_order.hpp"

namespace sennit::sched {

void urgent_order::overtake(inbox_list& into, inbox_list urgent) noexcept {
    message_node*& place = into.begins_urgently() ? last_->next : into.first;
    if (!(urgent.last->next = place)) into.last = urgent.last;
    place = urgent.first;
    last_ = urgent.last;
}

inbox_list urgent_order::left_over(inbox_list rest, message_node* last,
                                   inbox_list& present) noexcept {
    if (!rest.first) return rest;
    message_node* const newest = last_;
    if (rest.begins_urgently()) last_ = last;
    if (!present.begins_urgently()) return rest;
    const inbox_list urgent{present.first, newest};
    present.first = newest->next;
    overtake(rest, urgent);
    return rest;
}

} // namespace sennit::sched
