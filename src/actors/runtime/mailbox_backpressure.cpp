// SPDX-License-Identifier: Apache-2.0
// Mailboxes: who sends faster than its receiver gets to its mail goes on behind that one
// (mailbox.hpp, 7).
//
// Why. Of several that send to one, each has its turn where it is, and the receiver has one for all
// of theirs; and what it does not get to in time lies in memory, where it costs it five times as
// much. Behind the receiver, who outruns it sends as much as that has handled, to a mailbox of the
// same worker.
#include "actors/runtime/mailbox.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

// Ends a turn that leaves `rest`. False, and nothing is done: the receiver is here by now, or this
// may not go there. The mailbox travels busy, with its mail as it lies: by its notice to the
// receiver's owner, as one that follows its sender; by the shared queue where the receiver has no
// owner, or where the notice is under way for another reason.
bool mailbox::reschedule_behind(mailbox& receiver, list rest, worker& me) noexcept {
    worker* const owner = receiver.owner_.load();
    if (owner == &me || !me.is_local(*this) || affinity != 0) return false;
    if (!me.queue().lifo.closed()) me.flush_lifo_slot();
    bool by_wakeup = false;
    me.queue().inside([&]() noexcept {
        rest.append(local_messages_);
        local_messages_ = rest;
        by_wakeup = owner && wakeup_pending_.exchange(1) == 0;
        owner_.store(nullptr);
    });
    if (!by_wakeup) {
        if (!SENNIT_MUTANT("mailbox rescheduled behind one in transit is queued"))
            runtime().post(*this);
        return true;
    }
    if (SENNIT_MUTANT("mailbox rescheduled behind its receiver is posted")) return true;
    wakeup_.carries_mailbox = true;
    wakeup_.affinity = owner->affinity();
    runtime().post(wakeup_);
    return true;
}

} // namespace sennit::sched
