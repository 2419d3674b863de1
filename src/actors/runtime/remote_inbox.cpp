// SPDX-License-Identifier: Apache-2.0
#include "actors/runtime/remote_inbox.hpp"

#include "actors/runtime/prefetch_links.hpp"

namespace sennit::sched {

void remote_inbox::take_all(inbox_list& into, urgent_order& order) noexcept {
    takes_.store_rlx(takes_.load_rlx() + 1); // a hint
    inbox_list usual, urgent;
    prefetch_links links;
    for (message_node* newest = newest_.exchange(nullptr); newest;) {
        // The links of a shorter chain lead to messages that were taken before and are reused.
        if (links.is_long()) prefetch_links::prefetch_ahead(*newest);
        message_node* const older = newest->next;
        (newest->urgent ? urgent : usual).prepend(*newest);
        links.add(*newest);
        newest = older;
    }
    if (urgent.first) order.overtake(into, urgent);
    into.append(usual);
}

} // namespace sennit::sched
