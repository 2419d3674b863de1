// SPDX-License-Identifier: Apache-2.0
// Mailboxes: what handlers keep in fiber_locals ends with the turn.
//
// All handlers that run on a stack are one activity there, so a value that one of them has made would be the next
// actor's, too. Who makes a value marks the mailbox whose turn runs; a marked one leaves the short way from turn to
// turn, and destroys the values before its turn ends.
#include "sched/mailbox.hpp"
#include "sched/worker.hpp"
#include "sennit/sched/activity.hpp"

namespace sennit::sched {

void mailbox::note_locals() noexcept {
    worker* const me = this_worker();
    mailbox* const box = me ? me->self().serves : nullptr;
    if (box) box->marks_ |= has_locals; // we are in its turn
}

// In a turn that leaves `rest`. What that sends to this mailbox goes behind what is there. Returns what it leaves then,
// perhaps on another worker.
mailbox::list mailbox::end_locals(list rest) noexcept {
    worker* const me = this_worker();
    mail* const last_urgent = last_urgent_;
    rest.append(inbox_);
    inbox_.first = nullptr;
    destroy_locals(*current_activity());
    if (this_worker() != me) (void)moved();
    marks_ &= static_cast<std::uint8_t>(~has_locals);
    return left_over(rest, last_urgent);
}

} // namespace sennit::sched
