// SPDX-License-Identifier: Apache-2.0
// Mailboxes: the beginning and the end of a life, and where it is to be handled.
#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"

namespace sennit::sched {

// As a new one, but for its generation, and the lock that whoever has an old address may hold.
// Between two runtimes no turn runs, and the lock of the directory orders the one before the other.
void mailbox::attach_to_runtime(runtime_core& runtime, worker& owner, std::uint16_t only) noexcept {
    owned = true;
    in_order = false;
    affinity_is_soft = false;
    order = UINT64_MAX;
    affinity = only;
    wakeup_.order = UINT64_MAX;
    wakeup_.affinity = 0;
    wakeup_.in_order = false;
    wakeup_.owner_only = false;
    wakeup_.carries_mailbox = false;
    wakeup_.bound = only != 0;
    wakeup_.affinity_is_soft = only == 0;
    busy_.store_rlx(
        false); // pairs with begin_incarnation: written before the life, as all of these
    marks_ = 0;
    local_messages_ = {};
    remote_.store_rlx(nullptr);   // pairs with begin_incarnation: as said
    wakeup_pending_.store_rlx(0); // pairs with begin_incarnation: as said
    queued.store_rlx(0);          // pairs with begin_incarnation: as said
    bounds.store_rlx(0);          // pairs with begin_incarnation: as said
    senders_waiting.store_rlx(0); // pairs with begin_incarnation: as said
    handled.store_rlx(0);         // pairs with begin_incarnation: as said
    last_remote_sender_.store_rlx(
        0);                     // pairs with begin_incarnation: as said; a number of its workers
    remote_takes_.store_rlx(0); // pairs with begin_incarnation: as said
    asks.store_rlx(0);          // pairs with begin_incarnation: as said
    group.store_rlx(nullptr);   // pairs with begin_incarnation: as said
    object = nullptr;
    cold_state = nullptr;
    owner_.store_rlx(&owner);     // pairs with begin_incarnation: as said
    runtime_.store_rlx(&runtime); // pairs with begin_incarnation: as said
}

// A life that has not ended ends: where a child of fork() leaves a runtime alone.
void mailbox::detach_from_runtime() noexcept {
    const std::uint32_t incarnation = generation_.load_rlx(); // owner: nobody else is here any more
    if (incarnation % 2 != 0) generation_.store(incarnation + 1);
    runtime_.store_rlx(nullptr); // orders nothing: null tells nothing
}

bool mailbox::generations_exhausted() const noexcept {
    return generation() >= UINT32_MAX - 2;
}

void mailbox::retire_slot() noexcept {
    // pairs with begin_incarnation: written before the life
    if (incarnation_owner* const whose = group.load_rlx())
        whose->incarnation_ended(*whose, *this); // as said
    runtime().mailboxes().give(*this);
}

void mailbox::set_initial_owner(std::uint16_t wanted) noexcept {
    worker* const owner = owner_.load();
    worker& chosen = runtime().worker_at(wanted - 1u);
    if (owner == &chosen || !owner) return;
    const auto change = [&]() noexcept {
        if (!busy_.load_rlx() && owner_.load_rlx() == owner)
            owner_.store(&chosen); // under the lock
    };
    if (owner == this_worker())
        owner->queue().inside(change);
    else
        (void)owner->queue().with_remote_lock(change);
}

void mailbox::reject(message_node& one, delivery why) noexcept {
    one.failed(slot_, why);
    one.run(one, nullptr);
}

void mailbox::end_incarnation() noexcept {
    // owner: the turn alone changes it while it lives
    generation_.store(generation_.load_rlx() +
                      1); // own turn's; before the looks at `senders_waiting`
    marks_ |= retired;
}

void worker::flush_lifo_slot_before_block() noexcept {
    flush_lifo_slot();
    if (mailbox* box = self().current_mailbox()) box->bind_batch(self(), *this);
}

// Of an unbound one. A handler that goes on in another worker's thread takes the mailbox with it,
// which costs a claim: some 10 us where the old owner is awake. So who wakes it sends it back to
// `me`, if that is awake.
void mailbox::bind_batch(context& here, const worker& me) const noexcept {
    if (affinity != 0 || !me.is_local(*this)) return;
    here.affinity = me.affinity();
    here.affinity_is_soft = true;
}

} // namespace sennit::sched
