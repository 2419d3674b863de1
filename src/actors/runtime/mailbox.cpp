// SPDX-License-Identifier: Apache-2.0
#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/actor_state.hpp"

#include "actors/runtime/mailbox_table.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sys/mutant.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace sennit::sched {

// The worker that takes the mailbox next begins a batch, and becomes the owner.
void clear_owner(runnable& item) noexcept {
    static_cast<mailbox&>(item).owner_.clear();
}

// ---- delivery -----------------------------------------------------------------------------------

// Delivers in the owner's thread. False: this worker is not the owner.
inline bool mailbox::deliver_as_owner(message_node& one, worker& me) noexcept {
    if (!owner_.is_probably(me)) return false; // the lock decides
    bool mine = true;
    const auto put = [&]() noexcept {
        if (!owner_.is(me)) {
            mine = false;
            return false;
        }
        if (remote_.may_have_messages() && !SENNIT_MUTANT("older messages go first")) [[unlikely]]
            remote_.take_all(local_messages_, urgent_);
        enqueue(one);
        return batch_.try_begin();
    };
    const bool fresh = handled.load_rlx() == 0; // a metric, here only a hint
    if (fresh) [[unlikely]]
        (void)me.post_spawned_if(*this, put); // a new actor: newest first
    else
        (void)me.post_woken_if(*this, put);
    return mine;
}

// Delivers from a worker that is not the owner, or from a worker of another runtime.
[[gnu::noinline]] void mailbox::deliver_as_other_worker(message_node& one, worker& me) noexcept {
    worker* const owner = owner_.get(); // a hint
    if (owner && owner != &me && &me.runtime() == &runtime() && me.is_local(*this) &&
        (runtime().idle().is_set(owner->index()) || me.is_host()) &&
        pull_to_this_worker(one, me, *owner))
        return;
    me.counted.remote_sends.add();
    wakeup_flag_.note_sender(&me.runtime() == &runtime() && me.affinity() <= UINT8_MAX
                                 ? static_cast<std::uint8_t>(me.affinity())
                                 : std::uint8_t{0});
    actor_state(me).remote_messages.add(one);
    mailbox* const sender = mailbox::current(me.self());
    const std::uint32_t taken = remote_.takes();
    if (sender && &me.runtime() == &runtime() && actor_state(me).floods.note(*sender, *this, taken))
        [[unlikely]]
        sender->batch_.set(batch_state::floods_receiver); // this thread runs the sender's batch
    deliver_remote(one);
}

void mailbox::deliver_remote(message_node& one) noexcept {
    remote_.push(one);
    notify_owner();
}

void mailbox::notify_owner() noexcept {
    worker* const owner = owner_.get();
    if (!owner || !wakeup_flag_.claim()) return;
    wakeup_.address_to(owner->affinity());
    runtime().post(wakeup_);
}

// For a sender on a worker, when the owner sleeps. To wake the owner would cost more than to make
// this worker the owner, and the work that follows one message stays together. False: the move was
// impossible, or unnecessary.
bool mailbox::pull_to_this_worker(message_node& one, worker& me, worker& owner) noexcept {
    bool moved_here = false;
    const auto let = owner.queue().with_remote_lock([&]() noexcept {
        deliver_from_lifo_slot(owner);
        if (!owner_.is(owner) || !batch_.idle()) return;
        if (remote_.has_messages()) remote_.take_all(local_messages_, urgent_);
        enqueue(one);
        batch_.begin();
        owner_.give_to(&me);
        moved_here = true;
    });
    if (!let || !moved_here) return false;
    me.post_woken(*this);
    return true;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
// SAFETY: a wakeup exists only as this member of a mailbox. offsetof in a class that is not of
// standard layout is conditionally supported; g++ and clang support it for all classes without
// virtual bases.
mailbox& mailbox::of(wakeup& mine) noexcept {
    return *reinterpret_cast<mailbox*>(reinterpret_cast<std::byte*>(&mine) -
                                       offsetof(mailbox, wakeup_));
}
#pragma GCC diagnostic pop

bool mailbox::is_stale_wakeup(runnable& item) noexcept {
    if (item.run != &mailbox::run_wakeup) return false;
    wakeup& one = static_cast<wakeup&>(item);
    return !one.carries_mailbox() && of(one).batch_.busy_hint();
}

void mailbox::run_wakeup(runnable* self) noexcept {
    wakeup& mine = *static_cast<wakeup*>(self);
    mailbox& me = of(mine);
    const bool carried = mine.begin();
    const bool stale = SENNIT_MUTANT("wakeup is taken before messages are looked for") &&
                       !me.remote_.has_messages();
    if (!SENNIT_MUTANT("wakeup is taken")) me.wakeup_flag_.clear();
    worker& here = *this_worker();
    if (stale || (!carried && (!me.remote_.has_messages() || !me.try_activate_here(here))))
        return here.counted.empty_runs.add(); // a batch has taken the messages, or is going to
    if (!me.runs_on(here)) {
        here.counted.empty_runs.add();
        return me.runtime().post(me);
    }
    if (here.random_below(tuning::migration_odds) == 0) return me.run_batches_and_migrate(here);
    run_batches(me);
}

// For a wakeup whose worker was refused the owner's lock. The wakeup has answered the wakeup_flag:
// if another thread rings first, that thread sends the wakeup.
void mailbox::return_wakeup_to_owner(worker& owner) noexcept {
    if (!wakeup_flag_.claim_unlooked()) return;
    wakeup_.address_to_owner_only(owner.affinity());
    runtime().post(wakeup_);
}

// False: the mailbox is bound to another worker.
inline bool mailbox::runs_on(const worker& one) const noexcept {
    return affinity == 0 || affinity == one.affinity();
}

// True: the mailbox was idle, and is busy now. This worker owns it; a mailbox that is bound to
// another worker is in transit to that worker.
bool mailbox::try_activate_here(worker& me) noexcept {
    for (;;) {
        worker* const owner = owner_.get();
        if (!owner) return false;
        bool idle = false, same = false;
        const auto change = [&]() noexcept {
            if (owner != &me)
                deliver_from_lifo_slot(*owner); // a later delivery would be out of order
            same = owner_.is(*owner);
            if (!same) return;
            idle = batch_.try_begin();
            if (idle) owner_.give_to(runs_on(me) ? &me : nullptr);
        };
        if (owner == &me) {
            me.queue().inside(change);
        } else if (const auto let = owner->queue().with_remote_lock(change);
                   let.refused && !SENNIT_MUTANT("wakeup is returned to the owner")) {
            return_wakeup_to_owner(*owner);
            return false;
        } else if (!let) {
            yield_thread(); // a thief, or the owner, is inside
        }
        if (same) return idle;
    }
}

// ---- the LIFO slot ------------------------------------------------------------------------------

// Takes the message if the handler's worker owns the receiver, and nothing else is ready there.
[[gnu::always_inline]] inline bool
mailbox::try_put_in_lifo_slot(std::uint32_t generation, message_node& one, worker& me) noexcept {
    run_queue& queue = me.queue();
    // All of these are hints: the lock decides when the message leaves the slot.
    if (!owner_.is_probably(me) || batch_.busy_hint() || remote_.may_have_messages()) return false;
    if (queue.size() != 0 || !me.is_local(*this) || !queue.lifo.is_open()) return false;
    one.generation = generation;
    // A batch runs here: otherwise the slot would be closed.
    one.sender = mailbox::current(me.self())->batch_address();
    queue.lifo.put(one, *this);
    if (me.somebody_sleeps() && !me.runtime().has_sentinel()) [[unlikely]]
        me.posted_slowly(1);
    return true;
}

// Inside the lock of `owner`'s queue: the message from the LIFO slot goes before messages that
// other threads have sent since. True: the mailbox was idle, and the caller must queue it there.
inline bool mailbox::receive(message_node& one, worker& owner) noexcept {
    if (!owner_.is(owner)) [[unlikely]] {
        deliver_remote(one);
        return false;
    }
    enqueue(one);
    return batch_.try_begin();
}

// No batch of the receiver runs in the victim's thread: the receiver was idle when the message was
// sent, and only the sender's handler has run there since. The receiver is still the victim's,
// because every thread that changes the owner calls this function first.
bool mailbox::deliver_from_lifo_slot(worker& victim) noexcept {
    message_node* one = victim.queue().lifo.held();
    if (!one) return false;
    mailbox& to = *one->target;
    const bool was_idle = to.receive(*one, victim);
    // `handled` is a metric, here only a hint.
    if (was_idle) victim.queue().push_inside(to, to.handled.load_rlx() == 0);
    victim.queue().lifo.emptied();
    return was_idle;
}

// Owner's thread only. Leaves the slot open, or closed as it was.
[[gnu::noinline]] void mailbox::flush_lifo_slot(worker& me) noexcept {
    run_queue& queue = me.queue();
    bool pushed = false;
    // A thief may have emptied the slot.
    queue.inside([&]() noexcept { pushed = deliver_from_lifo_slot(me); });
    if (pushed) me.posted(queue.size());
}

void worker::flush_lifo_slot() noexcept {
    if (queue_.lifo.held() && !SENNIT_MUTANT("lifo slot is flushed before a context is left"))
        mailbox::flush_lifo_slot(*this);
    queue_.lifo.close();
}

// ---- the core interface -------------------------------------------------------------------------

namespace {
constinit base::atomic<early_message_store> early_store{nullptr};

[[gnu::noinline, gnu::cold]] delivery undeliverable(address to, message_node& one,
                                                    delivery why) noexcept {
    if (const address me = current_receiver(); me && !one.kept) one.sender = me;
    one.generation = to.generation;
    one.failed(to.slot, why);
    // orders nothing: the store is a function
    if (const early_message_store store = early_store.load_rlx(); store && store(one))
        return delivery::sent;
    one.run(one, nullptr);
    return why;
}
} // namespace

void set_early_message_store(early_message_store how) noexcept {
    early_store.store_rlx(how); // orders nothing: the value is a function
}

[[gnu::noinline]] delivery mailbox::accept(address to, message_node& one) noexcept {
    worker* me = this_worker();
    one.generation = to.generation;
    if (me) {
        if (mailbox* sender = mailbox::current(me->self()); sender && !one.kept)
            one.sender = sender->batch_address();
        if (me->queue().lifo.held()) [[unlikely]]
            flush_lifo_slot(*me);
        if (!deliver_as_owner(one, *me)) deliver_as_other_worker(one, *me);
    } else {
        deliver_remote(one);
    }
    return delivery::sent;
}

namespace {
// `box`, if any, has counted the message if its sender reserved room before the incarnation ended.
// A function of its own, which keeps registers free in `deliver`.
[[gnu::noinline, gnu::cold]] delivery deliver_dead(address to, message_node& one,
                                                   mailbox* box) noexcept {
    if (box) box->capacity.unreserve(one, to.slot);
    return undeliverable(to, one, delivery::dead);
}

[[gnu::noinline]] delivery deliver_bounded(address to, message_node& one, mailbox& box) noexcept {
    const delivery may = box.capacity.reserve(one);
    return may == delivery::sent ? box.accept(to, one) : undeliverable(to, one, may);
}
} // namespace

delivery deliver(address to, message_node& one) noexcept {
    mailbox* box = mailbox_table::find(to.slot);
    if (!to || !box || box->generation() != to.generation) [[unlikely]]
        return deliver_dead(to, one, box);
    if (box->capacity.bounded()) [[unlikely]]
        return deliver_bounded(to, one, *box);
    if (worker* me = this_worker(); me && box->try_put_in_lifo_slot(to.generation, one, *me))
        return delivery::sent;
    return box->accept(to, one);
}

std::optional<delivery> deliver_waiting(address to, message_node& one) noexcept {
    mailbox* box = to ? mailbox_table::find(to.slot) : nullptr;
    if (!box || !alive(to) || !box->capacity.bounded() || box->capacity.policy() != when_full::wait)
        return deliver(to, one);
    // `deliver` does not count a message that is counted already. After the end of the incarnation,
    // no sender counts any more.
    while (alive(to) && box->capacity.reserve(one) != delivery::sent)
        if (!box->wait_for_room(to)) return std::nullopt;
    return deliver(to, one);
}

delivery deliver_uncounted(address to, message_node& one) noexcept {
    mailbox* box = mailbox_table::find(to.slot);
    if (!to || !box || box->generation() != to.generation)
        return undeliverable(to, one, delivery::dead);
    return box->accept(to, one);
}

bool alive(address who) noexcept {
    const mailbox* box = who ? mailbox_table::find(who.slot) : nullptr;
    return box && box->generation() == who.generation;
}

address current_receiver() noexcept {
    worker* me = this_worker();
    mailbox* box = me ? mailbox::current(me->self()) : nullptr;
    return box ? box->batch_address() : address();
}

} // namespace sennit::sched
