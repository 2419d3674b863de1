// SPDX-License-Identifier: Apache-2.0
#include "sched/mailbox.hpp"

#include "sched/mailbox_table.hpp"
#include "sched/runtime_core.hpp"
#include "sched/tuning.hpp"
#include "sched/worker.hpp"
#include "sennit/sched/activity.hpp"
#include "sys/mutant.hpp"

#include <utility>

namespace sennit::sched {

// On its way: whoever has it next begins a turn, and writes itself down as the owner.
void disown(runnable& item) noexcept {
    static_cast<mailbox&>(item).owner_.store_rlx(0); // who still sees the old owner comes by that one's lock
}

mailbox::mailbox(runtime_core& runtime, std::uint32_t slot, std::uint32_t generation, std::uint16_t owner) noexcept
    : runnable(&mailbox::begin_turn), generation_(generation), owner_(owner), runtime_(runtime), slot_(slot),
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
        if (remote_.load_acq()) [[unlikely]] // pairs with deliver_from_afar
            take_remote(inbox_);
        inbox_.put(one);
        return !std::exchange(busy_, true);
    };
    me.post_ready_if(*this, put);
    return mine;
}

void mailbox::deliver_from_afar(mail& one) noexcept {
    mail* newest = remote_.load_rlx(); // the CAS decides
    do {
        one.next = newest;
    } while (!remote_.cas(newest, &one));
    const std::uint16_t owner = owner_.load();
    if (owner == 0) return;
    if (noticed_.load() != 0 || noticed_.exchange(1) != 0) return;
    notice_.home = owner;
    runtime_.post(notice_);
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
    if (me.wake_up_here(*this_worker())) me.turn();
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

void mailbox::begin_turn(runnable* self) noexcept {
    static_cast<mailbox*>(self)->turn();
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

void mailbox::turn() noexcept {
    worker* me = this_worker();
    take_over(*me);
    context& here = me->self();
    mailbox* const outer = std::exchange(here.serves, this);
    unsigned left = tuning::mail_in_a_turn;
    list batch;
    for (;;) {
        batch.append(std::exchange(inbox_, list()));
        if (remote_.load()) take_remote(batch);
        if (!batch.first) break;
        do {
            mail* one = batch.first;
            batch.first = one->next;
            if (one->generation == generation_.load_rlx()) [[likely]] { // own turn's
                handled.store_rlx(handled.load_rlx() + 1); // a metric, written here only
                if (one->counted && !count_out()) [[unlikely]]
                    return_to_sender(*one);
                else
                    one->run(*one, object);
                if (this_worker() != me) [[unlikely]] {
                    me = this_worker();
                    take_over(*me);
                }
            } else {
                return_to_sender(*one);
            }
        } while (--left != 0 && batch.first);
        if (left == 0) break;
    }
    here.serves = outer;
    if (activity& own = *current_activity(); own.locals) [[unlikely]]
        destroy_all_locals(own);
    end_turn(batch, *me);
}

inline void mailbox::end_turn(list rest, worker& me) noexcept {
    bool retire = false;
    const bool ready = me.post_ready_if(*this, [&]() noexcept {
        if (rest.first) {
            rest.append(inbox_);
            inbox_ = rest;
        }
        if (inbox_.first) return true;
        if (remote_.load() && !SENNIT_MUTANT("last look of a turn")) return true;
        busy_ = false;
        retire = std::exchange(retired_, false);
        return false;
    });
    if (retire && !ready) runtime_.mailboxes().give(*this);
}

void mailbox::return_to_sender(mail& one) noexcept {
    one.run(one, nullptr);
}

void mailbox::end_life() noexcept {
    generation_.store(generation_.load_rlx() + 1); // own turn's; before the look at `crowded`
    retired_ = true;
    if (crowded.load()) room_made();
}

void mailbox::release_unused() noexcept {
    runtime_.mailboxes().give(*this);
}

// ---- the waist -----------------------------------------------------------------------------------------------------

namespace {
delivery undeliverable(mail& one, delivery why) noexcept {
    one.sender = current_receiver();
    one.run(one, nullptr);
    return why;
}
} // namespace

inline delivery mailbox::accept(address to, mail& one) noexcept {
    worker* me = this_worker();
    one.generation = to.generation;
    if (me)
        if (mailbox* sender = me->self().serves) one.sender = sender->self();
    if (!me || &me->runtime() != &runtime_ || !deliver_here(one, *me)) deliver_from_afar(one);
    return delivery::sent;
}

delivery deliver(address to, mail& one) noexcept {
    mailbox* box = mailbox_table::find(to.slot);
    if (!to || !box || box->generation() != to.generation) [[unlikely]]
        return undeliverable(one, delivery::dead);
    if (box->bounds.load_rlx() != 0) [[unlikely]] { // written before the life began
        const delivery may = box->admit(one);
        if (may != delivery::sent) return undeliverable(one, may);
    }
    return box->accept(to, one);
}

delivery deliver_uncounted(address to, mail& one) noexcept {
    mailbox* box = mailbox_table::find(to.slot);
    if (!to || !box || box->generation() != to.generation) return undeliverable(one, delivery::dead);
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
