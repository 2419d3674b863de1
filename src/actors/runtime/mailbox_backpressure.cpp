// SPDX-License-Identifier: Apache-2.0
// Mailboxes, backpressure: a sender that outruns its receiver continues behind the receiver
// (mailbox.hpp, 7).
//
// Why. Several senders to one receiver each have a batch of their own on their own worker; the
// receiver has one batch for all their messages. Messages that the receiver does not reach in time
// fall out of the cache into memory, and then cost the receiver five times as much. Behind the
// receiver, the sender sends as much as the receiver has handled, and to a mailbox of the same
// worker.
#include "actors/runtime/mailbox.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

// Ends a batch that leaves `rest`. False, and nothing is done: the receiver has come to this
// worker, or this mailbox may not move. The mailbox travels busy, and its messages stay in it. Its
// wakeup carries it to the receiver's owner, as in a migration to the sender. It travels by the
// injector if the receiver has no owner, or if its wakeup is under way for another reason.
bool mailbox::reschedule_behind(mailbox& receiver, inbox_list rest, worker& me) noexcept {
    worker* const owner = receiver.owner_.get();
    if (owner == &me || !me.is_local(*this) || affinity != 0) return false;
    if (!me.queue().lifo.closed()) me.flush_lifo_slot();
    bool by_wakeup = false;
    me.queue().inside([&]() noexcept {
        rest.append(local_messages_);
        local_messages_ = rest;
        by_wakeup = owner && wakeup_flag_.claim_unlooked();
        owner_.give_to(nullptr);
    });
    if (!by_wakeup) {
        if (!SENNIT_MUTANT("mailbox rescheduled behind one in transit is queued"))
            runtime().post(*this);
        return true;
    }
    if (SENNIT_MUTANT("mailbox rescheduled behind its receiver is posted")) return true;
    wakeup_.carry_mailbox_to(owner->affinity());
    runtime().post(wakeup_);
    return true;
}

} // namespace sennit::sched
