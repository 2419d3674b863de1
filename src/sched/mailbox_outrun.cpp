// SPDX-License-Identifier: Apache-2.0
// Mailboxes: who sends faster than its receiver gets to its mail goes on behind that one (mailbox.hpp, 7).
//
// Why. Of several that send to one, each has its turn where it is, and the receiver has one for all of theirs; and what
// it does not get to in time lies in memory, where it costs it five times as much. Behind the receiver, who outruns it
// sends as much as that has handled, to a mailbox of the same worker.
#include "sched/mailbox.hpp"
#include "sched/runtime_core.hpp"
#include "sched/worker.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

// Inside the owner's lock, in the turn. What has come from afar since is newer, and stays behind it.
void mailbox::put_afar(list all) noexcept {
    for (mail* none = nullptr;; none = nullptr) {
        if (remote_.load()) take_remote(all);
        mail* const newest = all.reversed();
        if (remote_.cas(none, newest)) return;
        all.first = newest;
        all.first = all.reversed();
    }
}

// Ends a turn that leaves `rest`. False, and nothing is done: the receiver is here by now, or this may not go there.
bool mailbox::go_on_behind(mailbox& receiver, list rest, worker& me) noexcept {
    worker* const owner = receiver.owner_.load();
    if (owner == &me || !me.is_local(*this) || home != 0) return false;
    if (!me.queue().in_hand.closed()) me.let_go();
    me.queue().inside([&]() noexcept {
        rest.append(inbox_);
        inbox_ = {};
        put_afar(rest);
        if (owner)
            busy_.store_rlx(false); // under the lock
        else
            owner_.store(nullptr);
    });
    if (!owner) {
        if (!SENNIT_MUTANT("who goes on behind one that is on its way is queued")) runtime().post(*this);
        return true;
    }
    if (noticed_.exchange(1) != 0) return true; // that notice has yet to look
    if (SENNIT_MUTANT("who goes on behind its receiver is told of")) return true;
    notice_.home = owner->home();
    runtime().post(notice_);
    return true;
}

} // namespace sennit::sched
