// SPDX-License-Identifier: Apache-2.0
// Mailboxes: the batches (mailbox.hpp, 4).
//
// Threads. The worker that runs the batch. A handler may block and continue in another worker's
// thread, so each function that runs a handler asks for the present worker afterwards, and makes it
// the owner.
//
// Order. `run_batches` runs a row of batches, each of another mailbox. `run_hand_off_chain` is the
// fast path from one message to the next. `run_batch` handles one message on its own;
// `run_long_batch` handles several. `end_batch` ends the batch, or queues the mailbox, and chooses
// the next one. batch_state::may_end is the condition for the end of every batch.
#include "actors/runtime/actor_state.hpp"
#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/prefetch_links.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sys/clock.hpp"
#include "sys/mutant.hpp"

#include <utility>

namespace sennit::sched {

void mailbox::run_queued(runnable* self) noexcept {
    run_batches(static_cast<mailbox&>(*self));
}

// Handles `given`, then the message that its handler sends, and so on, as long as each handler
// sends to an idle mailbox and nothing else is ready. Does the work of `run_batch` and `end_batch`
// for each hop, in a few instructions. Returns the mailbox whose batch has not ended, and has
// handled its first message.
[[gnu::always_inline]] inline mailbox* mailbox::run_hand_off_chain(mailbox* box,
                                                                   message_node* given, worker*& me,
                                                                   context& here,
                                                                   unsigned& left) noexcept {
    for (;;) {
        here.set_current_receiver(box);
        here.affinity = box->affinity; // a handler that blocks continues where its actor may run
        box->handle(*given, box->incarnation_.present());
        if (this_worker() != me) [[unlikely]] {
            me = box->reacquire_after_move();
            return box;
        }
        if (left <= 1 || me->polls().requested()) return box;
        mailbox* to = nullptr;
        me->queue().inside([&]() noexcept {
            message_node* one = me->queue().lifo.held(); // null if a thief has emptied the slot
            if (!one || me->queue().size() != 0 || box->batch_.marked() ||
                !batch_state::may_end(box->local_messages_, box->remote_))
                return;
            mailbox& next_one = *one->target;
            if (!next_one.may_begin_with_it(*me)) return;
            me->queue().lifo.emptied();
            box->batch_.end_unmarked();
            next_one.batch_.begin();
            given = one;
            to = &next_one;
        });
        if (!to) return box;
        me->counted.inline_runs.add();
        box = to;
        --left;
    }
}

// The worker loop's path from one batch to the next costs as much as a batch. So this function
// takes the next mailbox itself, as long as the loop would take the same mailbox.
void mailbox::run_batches(mailbox& first) noexcept {
    worker* me = this_worker();
    context& here = me->self();
    mailbox* const outer = mailbox::current(here);
    const std::uint16_t outer_affinity = here.affinity;
    const bool outer_is_soft = std::exchange(here.affinity_is_soft, false);
    mailbox* box = &first;
    message_node* given = nullptr;
    for (unsigned left = me->polls().batches_per_pick(); box; --left) {
        if (!me->queue().always_contended()) [[likely]]
            me->queue().lifo.open();
        if (given) {
            box = run_hand_off_chain(box, given, me, here, left);
        } else {
            while (!box->owner_.acquire(*me)) me = this_worker();
            here.set_current_receiver(box);
            here.affinity = box->affinity;
        }
        inbox_list rest = box->run_batch(me);
        if (box->batch_.has(batch_state::has_locals)) [[unlikely]] {
            rest = box->end_locals(rest);
            me = this_worker();
        }
        given = nullptr;
        here.affinity_is_soft = false;
        box = box->end_batch(rest, *me, left > 1 && !me->polls().requested(), given);
    }
    here.set_current_receiver(outer);
    here.affinity = outer_affinity;
    here.affinity_is_soft = outer_is_soft;
}

// How many more messages the batch may handle. A mailbox with many messages continues for a moment:
// with many senders, it would fall behind otherwise.
[[gnu::noinline]] unsigned mailbox::extend_batch(bool more, std::int64_t& until) noexcept {
    if (tuning::simulated || !more) return 0;
    const std::int64_t now = sys::now_ns();
    if (until == 0) until = now + tuning::max_batch_ns;
    return now < until ? tuning::messages_per_batch : 0;
}

// Inside the batch. `last` of the result is valid only if `first` is not null.
inline inbox_list mailbox::take_all() noexcept {
    if (remote_.has_messages()) [[unlikely]]
        remote_.take_all(local_messages_, urgent_);
    const inbox_list all = local_messages_;
    local_messages_.first = nullptr;
    return all;
}

[[gnu::always_inline]] inline void mailbox::handle_usual(message_node& one) noexcept {
    // An urgent message comes first, but is not the oldest, so it is not dropped.
    if (one.counted && !capacity.release(incarnation_.slot()) && !one.urgent) [[unlikely]]
        return reject(one, delivery::full);
    handled.store_rlx(handled.load_rlx() + 1); // a metric that only the batch writes
    one.run(one, object);                      // `object` is of this incarnation: is_usual
}

[[gnu::noinline, gnu::cold]] void mailbox::handle_unusual(message_node& one,
                                                          std::uint32_t incarnation) noexcept {
    if (batch_.has(batch_state::has_locals)) forget_locals();
    if (one.generation == incarnation && !batch_.has(batch_state::retired))
        return handle_usual(one);
    capacity.unreserve(one, incarnation_.slot());
    reject(one, delivery::dead);
}

[[gnu::always_inline]] inline void mailbox::handle(message_node& one,
                                                   std::uint32_t incarnation) noexcept {
    if (!is_usual(one, incarnation)) [[unlikely]]
        return handle_unusual(one, incarnation);
    handle_usual(one);
}

namespace {
// True if another task is ready here, and another worker could run it.
bool has_work_to_share(worker& me) noexcept {
    return me.queue().size() != 0 && me.runtime().active_worker_count() > 1;
}
} // namespace

// `push_early_message` pushes a message before its incarnation has begun. A batch that only late
// messages for the last incarnation have caused may meet it. The message stays for a batch that
// sees the incarnation. (Other messages go to an actor that is alive, and their senders acquire
// that.) So the batch ends, and the next one comes behind the other ready tasks; the thread that
// begins the incarnation has a few instructions left.
inline bool mailbox::is_for_next_incarnation(const message_node& one,
                                             std::uint32_t incarnation) noexcept {
    return one.generation == incarnation + 1 &&
           !SENNIT_MUTANT("early message waits for its incarnation");
}

bool mailbox::ends_early(const message_node& one, std::uint32_t incarnation) const noexcept {
    const bool early = is_for_next_incarnation(one, incarnation);
    if (early) yield_thread();
    return early || batch_.only_floods();
}

// Returns the messages that it did not handle. The handlers may have moved the batch to another
// worker. Mostly there is one message, or, at the end of a hand-off chain, none.
[[gnu::always_inline]] inline inbox_list mailbox::run_batch(worker*& me) noexcept {
    inbox_list batch = take_all();
    message_node* const one = batch.first;
    if (!one) return batch;
    worker* at = me; // the caller keeps its own in a register
    // Constant until the incarnation ends, inside a batch.
    const std::uint32_t incarnation = incarnation_.present();
    if (!one->next && !is_for_next_incarnation(*one, incarnation)) [[likely]] {
        handle(*one, incarnation);
        if (this_worker() != at) [[unlikely]]
            me = at = reacquire_after_move();
        if (!local_messages_.first) return {};
        batch = take_all();
    }
    const std::uint64_t before = handled.load_rlx(); // a metric that only the batch writes
    batch = run_long_batch(batch, at);
    const std::uint64_t after = handled.load_rlx(); // a metric that only the batch writes
    at->counted.batched_items.add(after - before);
    me = at;
    return batch;
}

// Where messages are slow, the last one of several waits for its next batch if other tasks are
// ready. Otherwise messages on one route would catch up with each other and travel as one heap.
// Each mailbox would get all of them in one batch, and one worker would do all the work. While a
// message costs less than a hand-over, such a heap is cheaper, and may last.
inbox_list mailbox::run_long_batch(inbox_list batch, worker*& me) noexcept {
    unsigned left = me->polls().max_messages_per_batch();
    std::int64_t until = 0;
    message_cost_sampler::sample sample(handled);
    for (;; batch = take_all()) {
        const std::uint32_t incarnation = incarnation_.present();
        // New messages overwrite `urgent_`.
        message_node* const last_urgent = urgent_.last();
        const bool several = batch.first && batch.first->next;
        if (several) sample.begin(actor_state(*me).message_costs);
        while (message_node* one = batch.first) {
            if (several && !one->next && actor_state(*me).message_costs.messages_are_slow() &&
                has_work_to_share(*me)) [[unlikely]]
                return urgent_.left_over(batch, last_urgent, local_messages_);
            if (is_usual(*one, incarnation)) [[likely]] {
                batch.first = one->next;
                prefetch_links::prefetch_ahead(*one);
                handle_usual(*one);
            } else {
                if (ends_early(*one, incarnation))
                    return urgent_.left_over(batch, last_urgent, local_messages_);
                batch.first = one->next;
                handle_unusual(*one, incarnation);
            }
            if (this_worker() != me) [[unlikely]] {
                me = reacquire_after_move();
                sample.drop();
            }
            const bool last =
                --left == 0 && (me->polls().max_messages_per_batch() < tuning::messages_per_batch ||
                                (left = extend_batch(batch.first, until)) == 0);
            if (last || me->polls().requested())
                return urgent_.left_over(batch, last_urgent, local_messages_);
        }
        if (!local_messages_.first) return batch;
    }
}

worker* mailbox::reacquire_after_move() noexcept {
    worker* me = this_worker();
    while (!owner_.acquire(*me)) me = this_worker();
    bind_batch(me->self(), *me);
    return me;
}

// Inside the owner's lock. True: there are more messages.
inline bool mailbox::end_batch_locked(inbox_list rest, bool& retire) noexcept {
    if (rest.first) [[unlikely]] {
        rest.append(local_messages_);
        local_messages_ = rest;
    }
    if (!batch_state::may_end(local_messages_, remote_)) return true;
    retire = batch_.end();
    if (retire) [[unlikely]] // for the next incarnation: later, a late message may have queued it
        order = UINT64_MAX;
    return false;
}

// At the end of a batch, inside the lock. `at_once`: nothing else is ready. Returns the mailbox
// whose batch may begin immediately. Null: none; the slot's message, if any, is in its mailbox.
inline mailbox* mailbox::take_next(worker& me, bool at_once, message_node*& given) noexcept {
    message_node* one = me.queue().lifo.held();
    if (!one) return nullptr;
    mailbox& to = *one->target;
    if (!at_once || !to.may_begin_with_it(me)) [[unlikely]] {
        (void)deliver_from_lifo_slot(me);
        return nullptr;
    }
    me.queue().lifo.emptied();
    given = one;
    to.batch_.begin();
    return &to;
}

// Ends the batch, and returns the mailbox of the next batch, if the worker's loop would take that
// mailbox; null: the loop decides. `given`: the LIFO slot's message for that mailbox.
inline mailbox* mailbox::end_batch(inbox_list rest, worker& me, bool more,
                                   message_node*& given) noexcept {
    bool retire = false;
    if (rest.first && batch_.has(batch_state::floods_receiver)) [[unlikely]] {
        batch_.clear_all_but(batch_state::retired);
        mailbox* const receiver = actor_state(me).floods.flooded_receiver(*this);
        if (receiver && reschedule_behind(*receiver, rest, me)) return nullptr;
    }
    if (me.is_local(*this) && more && !me.share_requested()) [[likely]] {
        runnable* chosen = nullptr;
        const std::uint32_t ready = me.queue().end_and_pop(
            *this, [&]() noexcept { return end_batch_locked(rest, retire); },
            [&](bool at_once) noexcept -> runnable* { return take_next(me, at_once, given); },
            &mailbox::run_queued, chosen);
        if (ready > 1) [[unlikely]]
            me.posted(ready);
        if (retire) [[unlikely]]
            retire_slot();
        if (!chosen) {
            me.queue().lifo.close();
            return nullptr;
        }
        me.counted.inline_runs.add();
        return static_cast<mailbox*>(chosen);
    }
    if (!me.queue().lifo.closed()) me.flush_lifo_slot();
    (void)me.post_yielded_if(*this, [&]() noexcept { return end_batch_locked(rest, retire); });
    if (retire) retire_slot();
    return nullptr;
}

} // namespace sennit::sched
