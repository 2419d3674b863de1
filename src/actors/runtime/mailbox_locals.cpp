// SPDX-License-Identifier: Apache-2.0
// Mailboxes: the fiber_local values of a handler end with that handler.
//
// All handlers that run on a stack are one strand there, so a value that one of them has created
// would be visible to the next. The handler that creates a value marks the mailbox whose batch
// runs. A marked mailbox leaves the fast paths from message to message and from batch to batch. It
// destroys the values before the next message, and before its batch ends.
#include "actors/runtime/mailbox.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/strand.hpp"

namespace sennit::sched {

void mailbox::note_locals() noexcept {
    worker* const me = this_worker();
    mailbox* const box = me ? mailbox::current(me->self()) : nullptr;
    if (box) box->batch_.set(batch_state::has_locals); // this thread runs the batch of `box`
}

// May continue in another worker's thread, as a handler may: destructors of values may block.
void mailbox::forget_locals() noexcept {
    destroy_locals(*current_strand());
    batch_.clear(batch_state::has_locals);
}

// In a batch that leaves `rest`. Messages that the destructors send to this mailbox go behind the
// messages that it has. Returns the messages that are left then, perhaps on another worker.
inbox_list mailbox::end_locals(inbox_list rest) noexcept {
    worker* const me = this_worker();
    message_node* const last_urgent = urgent_.last();
    rest.append(local_messages_);
    local_messages_.first = nullptr;
    forget_locals();
    if (this_worker() != me) (void)reacquire_after_move();
    return urgent_.left_over(rest, last_urgent, local_messages_);
}

} // namespace sennit::sched
