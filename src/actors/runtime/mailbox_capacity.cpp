// SPDX-License-Identifier: Apache-2.0
#include "actors/runtime/mailbox_capacity.hpp"

#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/mutant.hpp"

#include <cstddef>
#include <mutex>

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

delivery mailbox_capacity::reserve(message_node& one) noexcept {
    if (one.counted) return delivery::sent;
    // Only the batch can drop the oldest. Where senders outrun even the batch, memory must not
    // grow.
    const std::uint64_t most =
        policy() == when_full::drop_oldest ? std::uint64_t{room()} * behind_at_most : room();
    // A refused sender counts nothing: a waiting sender would take that count for a message, and no
    // batch would ever count it out.
    std::uint32_t before = queued_.load();
    while (before < most && !queued_.cas(before, before + 1)) {
    }
    one.counted = before < most;
    return one.counted ? delivery::sent : delivery::full;
}

bool mailbox_capacity::release(std::uint32_t slot) noexcept {
    const std::uint32_t before = queued_.fetch_sub(1);
    if (senders_wait() && !SENNIT_MUTANT("senders are woken")) wake_senders(slot);
    return policy() != when_full::drop_oldest || before <= room();
}

void mailbox_capacity::wake_senders(std::uint32_t slot) noexcept {
    wake_ups woken;
    sender_waitlist& mine = waitlist_of(slot);
    std::lock_guard guard(mine.lock);
    senders_waiting_.store(0);
    woken.take_all(mine.waiting);
}

bool mailbox_capacity::wait_for_room(const incarnation_counter& present, address to,
                                     const void* box) noexcept {
    sender_waitlist& all = waitlist_of(to.slot);
    all.lock.lock();
    senders_waiting_.store(1);
    if (!SENNIT_MUTANT("second look for room") && (has_room() || present.ended(to))) {
        all.lock.unlock();
        return true;
    }
    return block(all.waiting, all.lock, {.what = "actor_ref::send", .on = box}) !=
           wake_reason::cancelled;
}

} // namespace sennit::sched
