// SPDX-License-Identifier: Apache-2.0
// Mailboxes: who is sent to from another worker all the time, and does little, goes there
// (mailbox.hpp, 8).
//
// Why. A message to another worker costs ten times what a piece takes that only answers. Actors
// that talk to each other are done sooner by one worker, wherever thieves have taken them. Each of
// them comes over now and then, so in the end they are together; the worker that has none of them
// left sleeps, or takes other work.
#include "actors/runtime/mailbox.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

void mailbox::run_batches_and_migrate(worker& me) noexcept {
    run_batches(*this);
    if (this_worker() == &me && me.is_message_bound())
        migrate_to_sender(me); // else a handler has blocked, or works
}

// It has had its turn here. While it is idle and lives, it has no home but that of its life.
void mailbox::migrate_to_sender(worker& me) noexcept {
    const unsigned to = last_remote_sender_.load_rlx(); // a hint
    if (to == 0 || to == me.affinity() || runtime().idle().is_set(to - 1)) return;
    bool goes = false;
    me.queue().inside([&]() noexcept {
        if (owner_.load_rlx() != &me || !idle() || !is_alive() || affinity != 0)
            return;                                   // under the lock
        if (wakeup_pending_.exchange(1) != 0) return; // that notice has yet to look
        (void)becomes_busy();
        owner_.store(nullptr);
        goes = true;
    });
    if (!goes) return;
    wakeup_.carries_mailbox = true;
    wakeup_.affinity = static_cast<std::uint16_t>(to);
    if (!SENNIT_MUTANT("mailbox that migrates to its sender runs there")) runtime().post(wakeup_);
}

} // namespace sennit::sched
