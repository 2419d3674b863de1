// SPDX-License-Identifier: Apache-2.0
// Bounded mailboxes: counting messages in and out, and senders that wait for room.
//
// Protocol.
// S1. A sender that finds no room sets `senders_waiting`.
// S2. The sender looks for room once more, and waits in one of a few lists that all mailboxes
// share.
// B1. The batch counts a message out.
// B2. The batch looks at `senders_waiting`, and wakes the senders.
//
// Why no sender waits for ever. S1, the look of S2, B1 and B2 are sequentially consistent: the
// sender sees the room, or the batch sees the sender. A sender looks again after it has been woken,
// so a list may also hold waiters of other mailboxes. The end of an incarnation need not wake
// senders. A waiting sender has seen a full mailbox, and batches after the end count the messages
// in it out, as dead.
#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/mutant.hpp"

#include <mutex>
#include <optional>

namespace sennit::sched {

namespace {

struct sender_waitlist {
    base::spin_lock lock;
    wait_list waiting;
};
constexpr std::size_t waitlist_count = 64;
// Where the oldest messages are to be dropped, a mailbox holds up to this many times its room.
constexpr std::uint32_t behind_at_most = 4;
constinit sender_waitlist sender_waitlists[waitlist_count];
const base::atfork_lock hold_waitlists(sender_waitlists, sender_waitlists[0].lock);

sender_waitlist& waitlist_of(std::uint32_t slot) noexcept {
    return sender_waitlists[slot % waitlist_count];
}

} // namespace

delivery mailbox::reserve_room(message_node& one) noexcept {
    // The load pairs with begin_incarnation: `bounds` was written before, for one incarnation.
    const std::uint32_t room = bounds.load_rlx() >> 2;
    if (one.counted) return delivery::sent;
    // Only the batch can drop the oldest. Where senders outrun even the batch, memory must not
    // grow.
    const std::uint64_t most =
        full() == when_full::drop_oldest ? std::uint64_t{room} * behind_at_most : room;
    // A refused sender counts nothing: a waiting sender would take that count for a message, and no
    // batch would ever count it out.
    std::uint32_t before = queued.load();
    while (before < most && !queued.cas(before, before + 1)) {
    }
    one.counted = before < most;
    return one.counted ? delivery::sent : delivery::full;
}

// False: there are too many messages, and the caller drops this one, the oldest.
bool mailbox::release_room() noexcept {
    const std::uint32_t before = queued.fetch_sub(1);
    if (senders_waiting.load() && !SENNIT_MUTANT("senders are woken")) wake_senders();
    // The loads pair with begin_incarnation: `bounds` was written before, for one incarnation.
    return full() != when_full::drop_oldest || before <= bounds.load_rlx() >> 2;
}

void mailbox::wake_senders() noexcept {
    wake_ups woken;
    sender_waitlist& mine = waitlist_of(slot_);
    std::lock_guard guard(mine.lock);
    senders_waiting.store(0);
    woken.take_all(mine.waiting);
}

std::optional<delivery> deliver_waiting(address to, message_node& one) noexcept {
    mailbox* box = to ? mailbox_table::find(to.slot) : nullptr;
    // The load pairs with begin_incarnation: `bounds` was written before, for one incarnation.
    if (!box || !alive(to) || box->bounds.load_rlx() == 0 || box->full() != when_full::wait)
        return deliver(to, one);
    for (;;) {
        // `deliver` does not count a message that is counted already. After the end of the
        // incarnation, no sender counts any more.
        if (!alive(to) || box->reserve_room(one) == delivery::sent) return deliver(to, one);
        sender_waitlist& all = waitlist_of(to.slot);
        all.lock.lock();
        box->senders_waiting.store(1);
        if (!SENNIT_MUTANT("second look for room") && (box->has_room() || box->ended(to))) {
            all.lock.unlock();
            continue;
        }
        if (block(all.waiting, all.lock, {.what = "actor_ref::send", .on = box}) ==
            wake_reason::cancelled)
            return std::nullopt;
    }
}

} // namespace sennit::sched
