// SPDX-License-Identifier: Apache-2.0
#include "actors/runtime/mailbox.hpp"

#include "actors/runtime/mailbox_table.hpp"
#include "core/policy/prefetch_links.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/core/one_shot.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sys/clock.hpp"
#include "sys/mutant.hpp"

#include <utility>

namespace sennit::sched {

// Puts the mailbox in transit: the worker that takes it next begins a batch, and becomes the owner.
// Under the lock: a thread that still sees the old owner enters that owner's lock.
void clear_owner(runnable& item) noexcept {
    static_cast<mailbox&>(item).owner_.store_rlx(nullptr);
}

// ---- delivery -----------------------------------------------------------------------------------

// Delivers in the owner's thread. False: this worker is not the owner.
inline bool mailbox::deliver_as_owner(message_node& one, worker& me) noexcept {
    if (owner_.load_rlx() != &me) return false; // a hint; the lock decides
    bool mine = true;
    const auto put = [&]() noexcept {
        if (owner_.load_rlx() != &me) { // under the lock
            mine = false;
            return false;
        }
        // pairs with push_remote: take_remote acquires
        if (remote_.load_rlx() && !SENNIT_MUTANT("older messages go first")) [[unlikely]]
            take_remote(local_messages_);
        enqueue(one);
        return becomes_busy();
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
    // A hint. The load acquires, because the owner may be a newly made spare worker.
    worker* const owner = owner_.load();
    if (owner && owner != &me && &me.runtime() == &runtime() && me.is_local(*this) &&
        runtime().idle().is_set(owner->index()) && pull_to_this_worker(one, me, *owner))
        return;
    // a hint
    last_remote_sender_.store_rlx(&me.runtime() == &runtime() && me.affinity() <= UINT8_MAX
                                      ? static_cast<std::uint8_t>(me.affinity())
                                      : std::uint8_t{0}); // a hint
    me.policies.remote_messages.add(one);
    mailbox* const sender = me.self().current_mailbox();
    const std::uint32_t taken = remote_takes_.load_rlx(); // a hint
    if (sender && &me.runtime() == &runtime() && me.policies.floods.note(*sender, *this, taken))
        [[unlikely]]
        sender->marks_ |= floods_receiver; // this thread runs the sender's batch
    deliver_remote(one);
}

void mailbox::deliver_remote(message_node& one) noexcept {
    push_remote(one);
    notify_owner();
}

void mailbox::push_remote(message_node& one) noexcept {
    message_node* newest = remote_.load_rlx(); // orders nothing: the CAS decides
    do {
        one.next = newest;
    } while (!remote_.cas(newest, &one));
}

void mailbox::notify_owner() noexcept {
    worker* const owner = owner_.load();
    if (!owner) return;
    if (wakeup_pending_.load() != 0 || wakeup_pending_.exchange(1) != 0) return;
    wakeup_.affinity = owner->affinity();
    runtime().post(wakeup_);
}

// For a sender on a worker, when the owner sleeps. To wake the owner would cost more than to make
// this worker the owner, and the work that follows one message stays together. False: the move was
// impossible, or unnecessary.
bool mailbox::pull_to_this_worker(message_node& one, worker& me, worker& owner) noexcept {
    bool moved_here = false;
    const auto let = owner.queue().with_remote_lock([&]() noexcept {
        deliver_from_lifo_slot(owner);
        if (owner_.load_rlx() != &owner || busy_.load_rlx()) return; // under the lock
        if (remote_.load()) take_remote(local_messages_);
        enqueue(one);
        busy_.store_rlx(true); // under the lock
        owner_.store(&me);
        moved_here = true;
    });
    if (!let || !moved_here) return false;
    me.post_woken(*this);
    return true;
}

// Takes `remote_`, which is newest first, and appends it oldest first.
void mailbox::take_remote(list& into) noexcept {
    remote_takes_.store_rlx(remote_takes_.load_rlx() + 1); // a hint
    list usual, urgent;
    prefetch_links links;
    for (message_node* newest = remote_.exchange(nullptr); newest;) {
        // The links of a shorter chain lead to messages that were taken before and are reused.
        if (links.is_long()) prefetch_links::prefetch_ahead(*newest);
        message_node* const older = newest->next;
        (newest->urgent ? urgent : usual).prepend(*newest);
        links.add(*newest);
        newest = older;
    }
    if (urgent.first) overtake(into, urgent);
    into.append(usual);
}

bool mailbox::is_stale_wakeup(runnable& item) noexcept {
    if (item.run != &mailbox::run_wakeup) return false;
    wakeup& one = static_cast<wakeup&>(item);
    return !one.carries_mailbox && of(one).busy_.load_rlx(); // a hint
}

void mailbox::run_wakeup(runnable* self) noexcept {
    wakeup& mine = *static_cast<wakeup*>(self);
    mailbox& me = of(mine);
    if (std::exchange(mine.owner_only, false)) [[unlikely]]
        mine.affinity_is_soft = true;
    const bool carried = std::exchange(mine.carries_mailbox, false);
    const bool stale =
        SENNIT_MUTANT("wakeup is taken before messages are looked for") && !me.remote_.load();
    if (!SENNIT_MUTANT("wakeup is taken")) me.wakeup_pending_.store(0);
    if (stale) return;
    worker& here = *this_worker();
    if (!carried && (!me.remote_.load() || !me.try_activate_here(here)))
        return; // a batch has taken the messages, or is going to
    if (!me.runs_on(here)) return me.runtime().post(me);
    if (here.random_below(tuning::migration_odds) == 0) return me.run_batches_and_migrate(here);
    run_batches(me);
}

// For a wakeup whose worker was refused the owner's lock. `wakeup_pending_` is 0: if another thread
// changes it first, that thread sends the wakeup.
void mailbox::return_wakeup_to_owner(worker& owner) noexcept {
    if (wakeup_pending_.exchange(1) != 0) return;
    wakeup_.owner_only = wakeup_.affinity_is_soft;
    wakeup_.affinity_is_soft = false;
    wakeup_.affinity = owner.affinity();
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
        worker* const owner = owner_.load();
        if (!owner) return false;
        bool idle = false, same = false;
        const auto change = [&]() noexcept {
            if (owner != &me)
                deliver_from_lifo_slot(*owner); // a later delivery would be out of order
            same = owner_.load_rlx() == owner;  // under the lock
            if (!same) return;
            idle = becomes_busy();
            if (idle) owner_.store(runs_on(me) ? &me : nullptr);
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
    if (owner_.load_rlx() != &me || busy_.load_rlx() || remote_.load_rlx()) return false;
    if (queue.size() != 0 || !me.is_local(*this) || !queue.lifo.is_open()) return false;
    one.generation = generation;
    // A batch runs here: otherwise the slot would be closed.
    one.sender = me.self().current_mailbox()->batch_address();
    queue.lifo.put(one, *this);
    if (me.somebody_sleeps() && !me.runtime().has_sentinel()) [[unlikely]]
        me.posted_slowly(1);
    return true;
}

// Inside the lock of `owner`'s queue: the message from the LIFO slot goes before messages that
// other threads have sent since. True: the mailbox was idle, and the caller must queue it there.
inline bool mailbox::receive(message_node& one, worker& owner) noexcept {
    if (owner_.load_rlx() != &owner) [[unlikely]] { // under the lock
        deliver_remote(one);
        return false;
    }
    enqueue(one);
    return becomes_busy();
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
    to.busy_.store_rlx(true); // under the lock
    return &to;
}

// ---- a batch ------------------------------------------------------------------------------------

void mailbox::run_queued(runnable* self) noexcept {
    run_batches(static_cast<mailbox&>(*self));
}

// False: the batch had to wait for the owner, so the caller may be in another worker's thread.
inline bool mailbox::acquire_ownership(worker& me) noexcept {
    // under the lock: only the owner's thread, or the thread that carries the mailbox, changes it
    if (owner_.load_rlx() == &me) [[likely]]
        return true;
    return acquire_ownership_slow(me);
}

// The task that an owner runs for a batch that continues elsewhere and was refused the lock.
struct mailbox::ownership_request : runnable {
    ownership_request(mailbox& which, worker& owner) noexcept
        : runnable(&ownership_request::give), box(which) {
        affinity = owner.affinity();
    }
    static void give(runnable* self) noexcept {
        auto& me = *static_cast<ownership_request*>(self);
        this_worker()->queue().inside([&]() noexcept { me.box.owner_.store(nullptr); });
        me.done.finish();
    }
    mailbox& box;
    one_shot done;
};

// Takes over from the worker that ran the beginning of the batch, or from none, in transit.
bool mailbox::acquire_ownership_slow(worker& me) noexcept {
    for (;;) {
        worker* const owner = owner_.load();
        if (owner == &me) return true;
        if (!owner) {
            owner_.store(&me);
            return true;
        }
        const auto let = owner->queue().with_remote_lock([&]() noexcept { owner_.store(&me); });
        if (let) return true;
        if (let.refused && !SENNIT_MUTANT("owner is asked to hand over")) {
            ownership_request wanted(*this, *owner);
            runtime().post(wanted);
            wanted.done.wait("its actor's worker");
            return false;
        }
        yield_thread();
    }
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
        here.set_current_mailbox(box);
        here.affinity = box->affinity; // a handler that blocks continues where its actor may run
        // owner: only the batch changes the generation during an incarnation
        box->handle(*given, box->generation_.load_rlx());
        if (this_worker() != me) [[unlikely]] {
            me = box->reacquire_after_move();
            return box;
        }
        if (left <= 1 || me->polls().requested()) return box;
        mailbox* to = nullptr;
        me->queue().inside([&]() noexcept {
            message_node* one = me->queue().lifo.held(); // null if a thief has emptied the slot
            if (!one || me->queue().size() != 0 || box->marks_ != 0 || box->local_messages_.first ||
                box->remote_.load())
                return;
            mailbox& next_one = *one->target;
            if (!next_one.may_begin_with_it(*me)) return;
            me->queue().lifo.emptied();
            box->busy_.store_rlx(false);    // under the lock
            next_one.busy_.store_rlx(true); // under the lock
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
    mailbox* const outer = here.current_mailbox();
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
            while (!box->acquire_ownership(*me)) me = this_worker();
            here.set_current_mailbox(box);
            here.affinity = box->affinity;
        }
        list rest = box->run_batch(me);
        if ((box->marks_ & has_locals) != 0) [[unlikely]] {
            rest = box->end_locals(rest);
            me = this_worker();
        }
        given = nullptr;
        here.affinity_is_soft = false;
        box = box->end_batch(rest, *me, left > 1 && !me->polls().requested(), given);
    }
    here.set_current_mailbox(outer);
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
inline mailbox::list mailbox::take_all() noexcept {
    if (remote_.load()) [[unlikely]]
        take_remote(local_messages_);
    const list all = local_messages_;
    local_messages_.first = nullptr;
    return all;
}

[[gnu::always_inline]] inline void mailbox::handle_usual(message_node& one) noexcept {
    // An urgent message comes first, but is not the oldest, so it is not dropped.
    if (one.counted && !release_room() && !one.urgent) [[unlikely]]
        return reject(one, delivery::full);
    handled.store_rlx(handled.load_rlx() + 1); // a metric that only the batch writes
    one.run(one, object);                      // `object` is of this incarnation: is_usual
}

[[gnu::noinline, gnu::cold]] void mailbox::handle_unusual(message_node& one,
                                                          std::uint32_t incarnation) noexcept {
    if ((marks_ & has_locals) != 0) forget_locals();
    if (one.generation == incarnation && (marks_ & retired) == 0) return handle_usual(one);
    unreserve_room(one);
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
    return early || (marks_ & (floods_receiver | retired)) == floods_receiver;
}

// Returns the messages that it did not handle. The handlers may have moved the batch to another
// worker. Mostly there is one message, or, at the end of a hand-off chain, none.
[[gnu::always_inline]] inline mailbox::list mailbox::run_batch(worker*& me) noexcept {
    list batch = take_all();
    message_node* const one = batch.first;
    if (!one) return batch;
    worker* at = me; // the caller keeps its own in a register
    // Constant until the incarnation ends, inside a batch. The load orders nothing: a message
    // carries the happens-before from the beginning of its incarnation.
    const std::uint32_t incarnation = generation_.load_rlx();
    if (!one->next && !is_for_next_incarnation(*one, incarnation)) [[likely]] {
        handle(*one, incarnation);
        if (this_worker() != at) [[unlikely]]
            me = at = reacquire_after_move();
        if (!local_messages_.first) return {};
        batch = take_all();
    }
    batch = run_long_batch(batch, at);
    me = at;
    return batch;
}

// Where messages are slow, the last one of several waits for its next batch if other tasks are
// ready. Otherwise messages on one route would catch up with each other and travel as one heap.
// Each mailbox would get all of them in one batch, and one worker would do all the work. While a
// message costs less than a hand-over, such a heap is cheaper, and may last.
mailbox::list mailbox::run_long_batch(list batch, worker*& me) noexcept {
    unsigned left = me->polls().max_messages_per_batch();
    std::int64_t until = 0;
    message_cost_sampler::sample sample(handled);
    for (;; batch = take_all()) {
        // The load orders nothing: see run_batch. New messages overwrite `last_urgent_`.
        const std::uint32_t incarnation = generation_.load_rlx();
        message_node* const last_urgent = last_urgent_;
        const bool several = batch.first && batch.first->next;
        if (several) sample.begin(me->policies.message_costs);
        while (message_node* one = batch.first) {
            if (several && !one->next && me->policies.message_costs.messages_are_slow() &&
                has_work_to_share(*me)) [[unlikely]]
                return left_over(batch, last_urgent);
            if (is_usual(*one, incarnation)) [[likely]] {
                batch.first = one->next;
                prefetch_links::prefetch_ahead(*one);
                handle_usual(*one);
            } else {
                if (ends_early(*one, incarnation)) return left_over(batch, last_urgent);
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
            if (last || me->polls().requested()) return left_over(batch, last_urgent);
        }
        if (!local_messages_.first) return batch;
    }
}

worker* mailbox::reacquire_after_move() noexcept {
    worker* me = this_worker();
    while (!acquire_ownership(*me)) me = this_worker();
    bind_batch(me->self(), *me);
    return me;
}

// Inside the owner's lock. True: there are more messages.
inline bool mailbox::end_batch_locked(list rest, bool& retire) noexcept {
    if (rest.first) [[unlikely]] {
        rest.append(local_messages_);
        local_messages_ = rest;
    }
    if (local_messages_.first) return true;
    if (remote_.load() && !SENNIT_MUTANT("last look of a batch")) return true;
    busy_.store_rlx(false); // under the lock
    retire = (marks_ & retired) != 0;
    if (retire) [[unlikely]] // for the next incarnation: later, a late message may have queued it
        order = UINT64_MAX;
    marks_ = SENNIT_MUTANT("a slot goes back once") ? marks_ : 0; // late messages make batches, too
    return false;
}

// Ends the batch, and returns the mailbox of the next batch, if the worker's loop would take that
// mailbox; null: the loop decides. `given`: the LIFO slot's message for that mailbox.
inline mailbox* mailbox::end_batch(list rest, worker& me, bool more,
                                   message_node*& given) noexcept {
    bool retire = false;
    if (rest.first && (marks_ & floods_receiver) != 0) [[unlikely]] {
        marks_ &= retired; // keeps this mark alone
        mailbox* const receiver = me.policies.floods.flooded_receiver(*this);
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
    (void)me.post_woken_if(*this, [&]() noexcept { return end_batch_locked(rest, retire); });
    if (retire) retire_slot();
    return nullptr;
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
        if (mailbox* sender = me->self().current_mailbox(); sender && !one.kept)
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
[[gnu::noinline]] delivery deliver_bounded(address to, message_node& one, mailbox& box) noexcept {
    const delivery may = box.reserve_room(one);
    return may == delivery::sent ? box.accept(to, one) : undeliverable(to, one, may);
}
} // namespace

delivery deliver(address to, message_node& one) noexcept {
    mailbox* box = mailbox_table::find(to.slot);
    if (!to || !box || box->generation() != to.generation) [[unlikely]] {
        if (box) box->unreserve_room(one);
        return undeliverable(to, one, delivery::dead);
    }
    if (box->bounds.load_rlx() != 0) [[unlikely]] // pairs with begin_incarnation, which is later
        return deliver_bounded(to, one, *box);
    if (worker* me = this_worker(); me && box->try_put_in_lifo_slot(to.generation, one, *me))
        return delivery::sent;
    return box->accept(to, one);
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
    mailbox* box = me ? me->self().current_mailbox() : nullptr;
    return box ? box->batch_address() : address();
}

} // namespace sennit::sched
