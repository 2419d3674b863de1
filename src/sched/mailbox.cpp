// SPDX-License-Identifier: Apache-2.0
#include "sched/mailbox.hpp"

#include "sched/mailbox_table.hpp"
#include "sched/runtime_core.hpp"
#include "sched/tuning.hpp"
#include "sched/worker.hpp"
#include "sennit/sched/activity.hpp"
#include "sys/clock.hpp"
#include "sys/mutant.hpp"

#include <utility>

namespace sennit::sched {

// On its way: whoever has it next begins a turn, and writes itself down as the owner.
void disown(runnable& item) noexcept {
    static_cast<mailbox&>(item).owner_.store_rlx(0); // who still sees the old owner comes by that one's lock
}

mailbox::mailbox(runtime_core& runtime, std::uint32_t slot, std::uint32_t generation, std::uint16_t owner) noexcept
    : runnable(&mailbox::begin_turns), generation_(generation), owner_(owner), runtime_(runtime), slot_(slot),
      notice_(*this) {
    owned = true;
    notice_.movable = true;
}

// ---- delivery ------------------------------------------------------------------------------------------------------

// False: this worker is not the owner.
inline bool mailbox::deliver_here(mail& one, worker& me) noexcept {
    if (owner_.load_rlx() != me.home()) return false; // a hint; decided inside the lock
    bool mine = true;
    const auto put = [&]() noexcept {
        if (owner_.load_rlx() != me.home()) { // under the lock
            mine = false;
            return false;
        }
        if (remote_.load_rlx() && !SENNIT_MUTANT("older mail goes first")) [[unlikely]] // take_remote acquires
            take_remote(inbox_);
        inbox_.put(one);
        return !std::exchange(busy_, true);
    };
    const bool fresh = handled.load_rlx() == 0; // a metric, and no more than a hint
    if (fresh) [[unlikely]]
        (void)me.post_spawned_if(*this, put); // new work: newest first
    else
        (void)me.post_ready_if(*this, put);
    return mine;
}

void mailbox::deliver_from_afar(mail& one) noexcept {
    mail* newest = remote_.load_rlx(); // pairs with nothing: the CAS decides
    do {
        one.next = newest;
    } while (!remote_.cas(newest, &one));
    const std::uint16_t owner = owner_.load();
    if (owner == 0) return;
    if (noticed_.load() != 0 || noticed_.exchange(1) != 0) return;
    notice_.home = owner;
    runtime_.post(notice_);
}

// For a sender on a worker, when the owner sleeps: to wake it would cost more than to make this one the owner, and what
// follows one message stays together. False: it could not be done, or need not.
bool mailbox::move_here(mail& one, worker& me, std::uint16_t owner) noexcept {
    bool moved_here = false;
    const bool in = runtime_.worker_at(owner - 1u).queue().claimed([&]() noexcept {
        if (owner_.load_rlx() != owner || busy_) return; // under the lock
        if (remote_.load()) take_remote(inbox_);
        inbox_.put(one);
        busy_ = true;
        owner_.store(me.home());
        moved_here = true;
    });
    if (!in || !moved_here) return false;
    me.post_ready(*this);
    return true;
}

// Newest first, as they lie there, becomes oldest first.
void mailbox::take_remote(list& into) noexcept {
    mail* oldest = nullptr;
    for (mail* newest = remote_.exchange(nullptr); newest;) {
        mail* older = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = older;
    }
    while (oldest) {
        mail& one = *oldest;
        oldest = one.next;
        into.put(one);
    }
}

void mailbox::read_notice(runnable* self) noexcept {
    mailbox& me = static_cast<notice*>(self)->whose;
    if (!SENNIT_MUTANT("notice is read")) me.noticed_.store(0);
    if (me.wake_up_here(*this_worker())) turns(me);
}

// True: it was idle, and is busy and this worker's now.
bool mailbox::wake_up_here(worker& me) noexcept {
    for (;;) {
        const std::uint16_t owner = owner_.load();
        if (owner == 0) return false;
        bool idle = false, same = false;
        const auto change = [&]() noexcept {
            same = owner_.load_rlx() == owner; // under the lock
            if (!same) return;
            idle = !std::exchange(busy_, true);
            if (idle) owner_.store(me.home());
        };
        if (owner == me.home())
            me.queue().inside(change);
        else if (!runtime_.worker_at(owner - 1u).queue().claimed(change))
            yield_thread(); // another thief, or the owner, is inside
        if (same) return idle;
    }
}

// ---- a turn --------------------------------------------------------------------------------------------------------

void mailbox::begin_turns(runnable* self) noexcept {
    turns(static_cast<mailbox&>(*self));
}

inline void mailbox::take_over(worker& me) noexcept {
    if (owner_.load_rlx() != me.home()) [[unlikely]] // only the owner's thread, or who has it in hand, changes it
        take_from_another(me);
}

// From the worker that ran the turn's beginning, or, in transit, from nobody.
void mailbox::take_from_another(worker& me) noexcept {
    for (;;) {
        const std::uint16_t owner = owner_.load();
        if (owner == me.home()) return;
        if (owner == 0) {
            owner_.store(me.home());
            return;
        }
        if (runtime_.worker_at(owner - 1u).queue().claimed([&]() noexcept { owner_.store(me.home()); })) return;
        yield_thread();
    }
}

// The loop's way from one turn to the next costs as much as a turn: so the next mailbox is taken here, as long as the
// loop would take just that.
void mailbox::turns(mailbox& first) noexcept {
    worker* me = this_worker();
    context& here = me->self();
    mailbox* const outer = here.serves;
    const std::uint16_t outer_home = here.home;
    mailbox* box = &first;
    for (unsigned left = tuning::fair_period; box; --left) {
        box->take_over(*me);
        here.serves = box;
        here.home = box->home; // a handler that blocks goes on where the actor may run
        const list rest = box->turn(me);
        box = box->end_turn(rest, *me, left > 1);
    }
    here.serves = outer;
    here.home = outer_home;
    if (activity& own = *current_activity(); own.locals) [[unlikely]]
        destroy_all_locals(own);
}

// A mailbox with much mail goes on for a moment: where many send to one, it would else fall behind.
[[gnu::noinline]] bool mailbox::go_on(const list& batch, unsigned& left, std::int64_t& until) noexcept {
    if (tuning::simulated || !batch.first) return false;
    const std::int64_t now = sys::now_ns();
    if (until == 0) until = now + tuning::longest_turn_ns;
    left = tuning::mail_in_a_turn;
    return now < until;
}

// Returns what it did not come to. The handlers may have moved it to another worker.
inline mailbox::list mailbox::turn(worker*& me) noexcept {
    unsigned left = tuning::mail_in_a_turn;
    std::int64_t until = 0;
    list batch;
    do {
        batch.append(inbox_);
        inbox_.first = nullptr;
        if (remote_.load()) [[unlikely]]
            take_remote(batch);
        while (mail* one = batch.first) {
            batch.first = one->next;
            // owner: the turn alone changes it while it lives
            if (one->generation == generation_.load_rlx()) [[likely]] { // own turn's
                handled.store_rlx(handled.load_rlx() + 1);              // a metric, written here only
                if (one->counted && !count_out()) [[unlikely]]
                    return_to_sender(*one, delivery::full);
                else
                    one->run(*one, object);
                if (this_worker() != me) [[unlikely]]
                    me = moved();
            } else {
                return_to_sender(*one, delivery::dead);
            }
            if (--left == 0 && !go_on(batch, left, until)) return batch;
        }
    } while (inbox_.first);
    return batch;
}

worker* mailbox::moved() noexcept {
    worker* me = this_worker();
    take_over(*me);
    return me;
}

// In the owner's lock. True: there is more.
inline bool mailbox::end_inside(list rest, bool& retire) noexcept {
    if (rest.first) [[unlikely]] {
        rest.append(inbox_);
        inbox_ = rest;
    }
    if (inbox_.first) return true;
    if (remote_.load() && !SENNIT_MUTANT("last look of a turn")) return true;
    busy_ = false;
    retire = std::exchange(retired_, false); // once: mail that comes too late makes further turns
    return false;
}

// Ends the turn, and returns whose turn is next, if the worker's loop would take just that; null: the loop decides.
inline mailbox* mailbox::end_turn(list rest, worker& me, bool more) noexcept {
    bool retire = false;
    if (me.is_local(*this) && more && !me.asked()) [[likely]] {
        runnable* chosen = nullptr;
        const std::uint32_t ready = me.queue().end_and_pop(
            *this, [&]() noexcept { return end_inside(rest, retire); }, &mailbox::begin_turns, chosen);
        if (ready > 1) [[unlikely]]
            me.posted(ready);
        if (retire) retire_slot();
        if (!chosen) return nullptr;
        me.counted.runnables.add();
        return static_cast<mailbox*>(chosen);
    }
    (void)me.post_ready_if(*this, [&]() noexcept { return end_inside(rest, retire); });
    if (retire) retire_slot();
    return nullptr;
}

void mailbox::retire_slot() noexcept {
    runtime_.mailboxes().give(*this);
}

void mailbox::pin_to(std::uint16_t wanted) noexcept {
    home = wanted;
    notice_.movable = wanted == 0;
    while (wanted != 0 && owner_.load() != wanted) begin_on(wanted);
}

void mailbox::begin_on(std::uint16_t wanted) noexcept {
    const std::uint16_t owner = owner_.load();
    if (owner == wanted || owner == 0) return;
    worker* me = this_worker();
    const auto change = [&]() noexcept {
        if (!busy_ && owner_.load_rlx() == owner) owner_.store(wanted); // under the lock
    };
    if (me && &me->runtime() == &runtime_ && owner == me->home())
        me->queue().inside(change);
    else
        (void)runtime_.worker_at(owner - 1u).queue().claimed(change);
}

void mailbox::return_to_sender(mail& one, delivery why) noexcept {
    one.failed(slot_, why);
    one.run(one, nullptr);
}

void mailbox::end_life() noexcept {
    // owner: the turn alone changes it while it lives
    generation_.store(generation_.load_rlx() + 1); // own turn's; before the look at `crowded`
    retired_ = true;
    if (crowded.load() && !SENNIT_MUTANT("an end makes room")) room_made();
}

// The address of the life that did not begin may have been given to others.
void mailbox::release_unused() noexcept {
    generation_.store(generation_.load_rlx() + 2); // owner: nobody else changes it
    runtime_.mailboxes().give(*this);
}

// ---- the waist -----------------------------------------------------------------------------------------------------

namespace {
[[gnu::noinline, gnu::cold]] delivery undeliverable(address to, mail& one, delivery why) noexcept {
    if (const address me = current_receiver()) one.sender = me;
    one.generation = to.generation;
    one.failed(to.slot, why);
    one.run(one, nullptr);
    return why;
}
} // namespace

inline delivery mailbox::accept(address to, mail& one) noexcept {
    worker* me = this_worker();
    one.generation = to.generation;
    if (me)
        if (mailbox* sender = me->self().serves) one.sender = sender->self();
    if (!me || &me->runtime() != &runtime_) {
        deliver_from_afar(one);
        return delivery::sent;
    }
    if (deliver_here(one, *me)) return delivery::sent;
    const std::uint16_t owner = owner_.load_rlx(); // a hint
    if (owner != 0 && owner != me->home() && me->is_local(*this) && runtime_.idle().is_set(owner - 1u) &&
        move_here(one, *me, owner))
        return delivery::sent;
    deliver_from_afar(one);
    return delivery::sent;
}

delivery deliver(address to, mail& one) noexcept {
    mailbox* box = mailbox_table::find(to.slot);
    if (!to || !box || box->generation() != to.generation) [[unlikely]]
        return undeliverable(to, one, delivery::dead);
    if (box->bounds.load_rlx() != 0) [[unlikely]] { // pairs with begin_life: older
        const delivery may = box->admit(one);
        if (may != delivery::sent) return undeliverable(to, one, may);
    }
    return box->accept(to, one);
}

delivery deliver_uncounted(address to, mail& one) noexcept {
    mailbox* box = mailbox_table::find(to.slot);
    if (!to || !box || box->generation() != to.generation) return undeliverable(to, one, delivery::dead);
    return box->accept(to, one);
}

bool alive(address who) noexcept {
    const mailbox* box = who ? mailbox_table::find(who.slot) : nullptr;
    return box && box->generation() == who.generation;
}

address current_receiver() noexcept {
    worker* me = this_worker();
    mailbox* box = me ? me->self().serves : nullptr;
    return box ? box->self() : address();
}

} // namespace sennit::sched
