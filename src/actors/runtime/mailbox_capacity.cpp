// SPDX-License-Identifier: Apache-2.0
// Mailboxes with a bound: counting mail in and out, and senders that wait for room.
//
// A sender that finds no room marks the mailbox as crowded, looks again, and waits in one of a few
// lists that all mailboxes share. The turn counts a piece out, then looks whether it is crowded.
// All four are sequentially consistent: the sender sees the room, or the turn sees the sender. Who
// is woken looks again, so it does not matter that a list's waiters may be another mailbox's. The
// end of a life need not tell: who waits has seen a full mailbox, and what is in it is counted out
// by turns that come after the end, as dead.
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
constexpr std::uint32_t behind_at_most = 4; // times the room, where the oldest are to be dropped
constinit sender_waitlist sender_waitlists[waitlist_count];
const base::atfork_lock hold_waitlists(sender_waitlists, sender_waitlists[0].lock);

sender_waitlist& waitlist_of(std::uint32_t slot) noexcept {
    return sender_waitlists[slot % waitlist_count];
}

} // namespace

delivery mailbox::reserve_room(message_node& one) noexcept {
    // pairs with begin_incarnation: written before the life
    const std::uint32_t room = bounds.load_rlx() >> 2; // of one life
    if (one.counted) return delivery::sent;
    // Only the turn can drop the oldest. Where senders outrun even that, memory must not grow.
    const std::uint64_t most =
        full() == when_full::drop_oldest ? std::uint64_t{room} * behind_at_most : room;
    // Who is refused counts nothing: a sender that waits would take that for a piece, which nobody
    // will count out.
    std::uint32_t before = queued.load();
    while (before < most && !queued.cas(before, before + 1)) {
    }
    one.counted = before < most;
    return one.counted ? delivery::sent : delivery::full;
}

// False: there are too many; this one, the oldest, is dropped.
bool mailbox::release_room() noexcept {
    const std::uint32_t before = queued.fetch_sub(1);
    if (senders_waiting.load() && !SENNIT_MUTANT("senders are woken")) wake_senders();
    // pairs with begin_incarnation: written before the life
    return full() != when_full::drop_oldest ||
           before <= bounds.load_rlx() >> 2; // bounds: of one life
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
    // pairs with begin_incarnation: written before the life
    if (!box || !alive(to) || box->bounds.load_rlx() == 0 ||
        box->full() != when_full::wait) // bounds: of one life
        return deliver(to, one);
    for (;;) {
        // Counted in already, it is not counted by `deliver`; and where the life has ended, nobody
        // counts any more.
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
