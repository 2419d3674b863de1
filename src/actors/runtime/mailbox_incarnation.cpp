// SPDX-License-Identifier: Apache-2.0
// Mailboxes: the beginning and the end of an incarnation, and the worker that handles it.
#include "actors/runtime/actor_state.hpp"
#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"

namespace sennit::sched {

// Resets the mailbox to the state of a new one, except for its generation, and for the lock that a
// thread with an old address may hold. No batch runs between two runtimes, and the directory's lock
// orders one before the other.
void mailbox::attach_to_runtime(runtime_core& runtime, worker& owner, std::uint16_t only) noexcept {
    owned = true;
    in_order = false;
    affinity_is_soft = false;
    order = UINT64_MAX;
    affinity = only;
    wakeup_.reset(only);
    // The stores pair with begin_incarnation: all of them come before the incarnation begins.
    batch_.reset();
    local_messages_ = {};
    remote_.reset();
    wakeup_flag_.reset();
    capacity.reset();
    handled.store_rlx(0);     // pairs with begin_incarnation
    asks.store_rlx(0);        // pairs with begin_incarnation
    group.store_rlx(nullptr); // pairs with begin_incarnation
    object = nullptr;
    cold_state = nullptr;
    owner_.attach(runtime, owner);
}

// Ends an incarnation that is still alive: a child of fork() abandons its runtimes that way.
void mailbox::detach_from_runtime() noexcept {
    incarnation_.abandon();
    owner_.detach();
}

void mailbox::retire_slot() noexcept {
    // The load pairs with begin_incarnation: `group` was written before.
    if (incarnation_owner* const whose = group.load_rlx()) whose->incarnation_ended(*whose, *this);
    mailboxes_of(runtime()).give(*this);
}

void mailbox::set_initial_owner(std::uint16_t wanted) noexcept {
    worker* const owner = owner_.get();
    worker& chosen = runtime().worker_at(wanted - 1u);
    if (owner == &chosen || !owner) return;
    const auto change = [&]() noexcept {
        if (batch_.idle() && owner_.is(*owner)) owner_.give_to(&chosen);
    };
    if (owner == this_worker())
        owner->queue().inside(change);
    else
        (void)owner->queue().with_remote_lock(change);
}

void mailbox::reject(message_node& one, delivery why) noexcept {
    one.failed(incarnation_.slot(), why);
    one.run(one, nullptr);
}

void mailbox::end_incarnation() noexcept {
    incarnation_.end();
    batch_.set(batch_state::retired);
}

void worker::flush_lifo_slot_before_block() noexcept {
    flush_lifo_slot();
    if (mailbox* box = mailbox::current(self())) box->bind_batch(self(), *this);
}

// For an unbound mailbox. A handler that continues in another worker's thread takes the mailbox
// with it. That costs a remote lock: some 10 us where the old owner is awake. So the thread that
// wakes the handler sends it back to `me`, if that worker is awake.
void mailbox::bind_batch(context& here, const worker& me) const noexcept {
    if (affinity != 0 || !me.is_local(*this)) return;
    here.affinity = me.affinity();
    here.affinity_is_soft = true;
}

} // namespace sennit::sched
