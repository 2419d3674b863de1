// SPDX-License-Identifier: Apache-2.0
// Mailboxes: what a handler keeps in fiber_locals ends with it.
//
// All handlers that run on a stack are one activity there, so a value that one of them has made
// would be the next one's, too. Who makes a value marks the mailbox whose turn runs; a marked one
// leaves the short ways from piece to piece and from turn to turn, and destroys the values before
// the next piece, and before its turn ends.
#include "actors/runtime/mailbox.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/strand.hpp"

namespace sennit::sched {

void mailbox::note_locals() noexcept {
    worker* const me = this_worker();
    mailbox* const box = me ? me->self().current_mailbox() : nullptr;
    if (box) box->marks_ |= has_locals; // we are in its turn
}

// May go on in another worker's thread, as a handler may.
void mailbox::forget_locals() noexcept {
    destroy_locals(*current_strand());
    marks_ &= static_cast<std::uint8_t>(~has_locals);
}

// In a turn that leaves `rest`. What that sends to this mailbox goes behind what is there. Returns
// what it leaves then, perhaps on another worker.
mailbox::list mailbox::end_locals(list rest) noexcept {
    worker* const me = this_worker();
    message_node* const last_urgent = last_urgent_;
    rest.append(local_messages_);
    local_messages_.first = nullptr;
    forget_locals();
    if (this_worker() != me) (void)reacquire_after_move();
    return left_over(rest, last_urgent);
}

} // namespace sennit::sched
