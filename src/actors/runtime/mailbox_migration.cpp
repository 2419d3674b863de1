// SPDX-License-Identifier: Apache-2.0
// Mailboxes, migration: a mailbox that receives its messages from another worker, and does little
// work, moves to that worker (mailbox.hpp, 8).
//
// Why. A message to another worker costs ten times as much as a message whose handler only answers.
// Actors that talk to each other finish sooner on one worker, wherever thieves have taken them.
// Each of them migrates now and then, so in the end they are together. The worker that has none of
// them left sleeps, or takes other work.
#include "actors/runtime/mailbox.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

void mailbox::run_batches_and_migrate(worker& me) noexcept {
    run_batches(*this);
    if (this_worker() == &me && me.is_message_bound())
        migrate_to_sender(me); // otherwise a handler has blocked, or computes
}

// After a batch on this worker. While the mailbox is idle and alive, it has no affinity but that of
// its incarnation.
void mailbox::migrate_to_sender(worker& me) noexcept {
    const unsigned to = wakeup_flag_.last_sender();
    if (to == 0 || to == me.affinity() || runtime().idle().is_set(to - 1)) return;
    bool goes = false;
    me.queue().inside([&]() noexcept {
        if (!owner_.is(me) || !batch_.idle() || !is_alive() || affinity != 0) return;
        if (!wakeup_flag_.claim_unlooked()) return; // the pending wakeup has yet to look
        batch_.begin();
        owner_.give_to(nullptr);
        goes = true;
    });
    if (!goes) return;
    wakeup_.carry_mailbox_to(static_cast<std::uint16_t>(to));
    if (!SENNIT_MUTANT("mailbox that migrates to its sender runs there")) runtime().post(wakeup_);
}

} // namespace sennit::sched
