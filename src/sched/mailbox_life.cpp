// SPDX-License-Identifier: Apache-2.0
// Mailboxes: the beginning and the end of a life, and where it is to be handled.
#include "sched/mailbox.hpp"
#include "sched/mailbox_table.hpp"
#include "sched/runtime_core.hpp"
#include "sched/worker.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

void mailbox::retire_slot() noexcept {
    // pairs with begin_life: written before the life
    if (life_owner* const whose = group.load_rlx()) whose->life_over(*whose, *this); // as said
    runtime_.mailboxes().give(*this);
}

void mailbox::begin_on(std::uint16_t wanted) noexcept {
    worker* const owner = owner_.load();
    worker& chosen = runtime_.worker_at(wanted - 1u);
    if (owner == &chosen || !owner) return;
    const auto change = [&]() noexcept {
        if (!busy_.load_rlx() && owner_.load_rlx() == owner) owner_.store(&chosen); // under the lock
    };
    if (owner == this_worker())
        owner->queue().inside(change);
    else
        (void)owner->queue().claimed(change);
}

void mailbox::return_to_sender(mail& one, delivery why) noexcept {
    one.failed(slot_, why);
    one.run(one, nullptr);
}

void mailbox::end_life() noexcept {
    // owner: the turn alone changes it while it lives
    generation_.store(generation_.load_rlx() + 1); // own turn's; before the look at `crowded`
    marks_ |= retired;
    if (crowded.load() && !SENNIT_MUTANT("an end makes room")) room_made();
}

void worker::let_go_of_handler() noexcept {
    let_go();
    if (mailbox* box = self().serves) box->bind_turn(self(), *this);
}

// Of an unbound one. A handler that goes on in another worker's thread takes the mailbox with it, which costs a claim:
// some 10 us where the old owner is awake. So who wakes it sends it back to `me`, if that is awake.
void mailbox::bind_turn(context& here, const worker& me) const noexcept {
    if (home != 0 || !me.is_local(*this)) return;
    here.home = me.home();
    here.movable = true;
}

} // namespace sennit::sched
