// SPDX-License-Identifier: Apache-2.0
// Mailboxes and actors: src/actors/runtime/mailbox.hpp, sennit/actor.hpp.
#include "actor_house.hpp"

#include "actors/runtime/mailbox.hpp"
#include "ground/ground.hpp"
#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <cstdint>
#include <memory>
#include <optional>

// The sources of a mailbox and of its members, for `preempt_in`.
#define MAILBOX_FILES                                                                              \
    "mailbox.cpp mailbox.hpp mailbox_batch.cpp batch_state.hpp wakeup.hpp "                        \
    "incarnation_counter.hpp "                                                                     \
    "mailbox_capacity.hpp mailbox_owner.hpp mailbox_owner.cpp remote_inbox.hpp remote_inbox.cpp"

namespace {

// Passes on each message that it receives, with a follow-up message, then does `then`.
class relay : public sennit::actor<relay, put> {
public:
    using what_then = void (*)(ledger&, event&);
    relay(sennit::actor_ref<keeper> to, int count, ledger& from, event& blocks, what_then then)
        : to_(to), count_(count), log_(from), blocks_(blocks), then_(then) {}
    void on(put m) {
        log_.passed_on = log_.passed_on + 1;
        for (int i = 0; i < count_; ++i) to_.tell(put{m.n + i});
        if (then_) then_(log_, blocks_);
    }

private:
    sennit::actor_ref<keeper> to_;
    int count_;
    ledger& log_;
    event& blocks_;
    what_then then_;
};

// Ends a nap, on that worker.
struct waker : sennit::sched::runnable {
    waker(sennit::event& of, std::uint16_t where)
        : runnable([](runnable* self) noexcept { static_cast<waker*>(self)->ends.set(); }),
          ends(of) {
        affinity = where;
    }
    sennit::event& ends;
};

// Sends two messages for each that it receives, of which the second may exceed the limit
// (flood_detector.hpp), and continues with the next number up to `last`.
class talker : public sennit::actor<talker, put, quit> {
public:
    talker(sennit::actor_ref<keeper> to, int last) : to_(to), last_(last) {}
    void on(put m) {
        to_.tell(put{m.n});
        to_.tell(put{m.n + 1});
        if (m.n + 2 < last_) self().tell(put{m.n + 2});
    }
    void on(quit) { stop(); }

private:
    sennit::actor_ref<keeper> to_;
    int last_;
};

// Spawns a child on its own worker, has it stopped, and ends.
class breeder : public sennit::actor<breeder, put> {
public:
    explicit breeder(ledger& of) : log_(of) {}
    ~breeder() { log_.passed_on = log_.passed_on + 1; }
    void on(put) {
        group().spawn<keeper>(log_).tell(quit{});
        stop();
    }

private:
    ledger& log_;
};

// Makes its address known before its constructor returns.
class newborn : public sennit::actor<newborn, put> {
public:
    newborn(ledger& into, sennit::actor_ref<newborn>& me, event& known) : ledger_(into) {
        me = self();
        known.set();
    }
    newborn(ledger& into, int n) : ledger_(into) { self().tell(put{n}); }
    void on(put m) {
        ledger_.sum = ledger_.sum * 10 + m.n;
        if (++seen_ == ledger_.expected) ledger_.enough.set();
    }

private:
    ledger& ledger_;
    int seen_ = 0;
};

class unborn : public sennit::actor<unborn, put> {
public:
    explicit unborn(sennit::sched::address* me = nullptr) {
        if (me) *me = address();
        throw failure();
    }
    void on(put) {}
};

} // namespace

// The edge from empty to not empty: only the first sender schedules the actor.
SIM_SCENARIO_WITHIN(actor, two_threads_wake_idle_actor, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.actor.tell(put{2});
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12 || all.what.sum == 21, "each message was handled once");
}

// A message arrives while the batch of the previous message ends.
SIM_SCENARIO_WITHIN(actor, message_races_end_of_batch, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2);
    all.actor.tell(put{1});
    all.actor.tell(put{2});
    all.what.enough.wait();
    sim::check(all.what.sum == 12, "both messages were handled, in order");
}

// One sender is a worker, which sends through its own queue; the other is a thread that is not a
// worker.
SIM_SCENARIO_WITHIN(actor, worker_and_thread_send_to_one_actor, .preemptions = 2,
                    .stale_reads = 1) {
    house all(1, 2);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.one.run([&] { all.actor.tell(put{2}); });
    all.what.enough.wait();
    other.join();
}

// A message that a thread has sent is handled before a message that the owner's thread sends later
// on request.
SIM_SCENARIO_WITHIN(actor, older_message_is_handled_first, .preemptions = 2, .stale_reads = 0) {
    house all(1, 2);
    event sent;
    sim::thread other([&] {
        all.one.run([&] {
            // Blocks the thread, so the wakeup of the first message stays in the queue.
            sent.wait();
            all.actor.tell(put{2});
        });
    });
    all.actor.tell(put{1});
    sent.set();
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12, "handled in the order of sending");
}

// A sender that finds the mailbox full races the batch that makes room.
SIM_SCENARIO_WITHIN(actor, full_mailbox_makes_room, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2, {.mailbox = 1});
    sim::check(all.actor.send(put{1}) == sennit::send_status::sent, "there is room for one");
    sim::check(all.actor.send(put{2}) == sennit::send_status::sent, "there is room again");
    all.what.enough.wait();
    sim::check(all.what.sum == 12, "both messages were handled, in order");
}

// A handler blocks. The wakeup of a later message is handled meanwhile, and leaves the message to
// the running batch.
SIM_SCENARIO_WITHIN(actor, message_waits_for_blocked_handler, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    all.actor.tell(nap{});
    all.actor.tell(put{1});
    all.what.end_of_nap.set();
    all.what.enough.wait();
    sim::check(all.what.sum == 1, "the message was handled");
}

// The actor ends with a full mailbox. Discarding its messages tells the sender that waits for room.
SIM_SCENARIO_WITHIN(actor, actor_with_full_mailbox_ends, .preemptions = 2, .stale_reads = 1) {
    house all(1, 9, {.mailbox = 1});
    sim::thread other([&] { (void)all.actor.send(put{1}); });
    (void)all.actor.send(quit{});
    (void)all.actor.send(put{2});
    other.join();
    all.group->join();
}

// The actor ends while a sender waits for room: the sender is told.
SIM_SCENARIO_WITHIN(actor, sender_to_full_mailbox_learns_of_end, .preemptions = 2,
                    .stale_reads = 1) {
    house all(1, 9, {.mailbox = 1});
    (void)all.actor.send(quit{});
    const auto then = all.actor.send(put{2});
    all.group->join();
    sim::check(then == sennit::send_status::dead || all.what.sum == 0,
               "a message that was not delivered is not handled");
}

// A sender is refused while another sender waits for room. (Before a fix, the refused sender
// counted itself in and out again. A sender that looked for room between the two steps slept
// forever in front of an empty mailbox.)
SIM_SCENARIO_WITHIN(actor, refused_sender_does_not_block_waiting_sender, .preemptions = 2,
                    .stale_reads = 0, .preempt_in = MAILBOX_FILES " mailbox_capacity.cpp") {
    house all(1, 9, {.mailbox = 1});
    sim::thread other([&] { (void)all.actor.try_tell(put{4}); });
    (void)all.actor.send(put{1});
    (void)all.actor.send(quit{});
    other.join();
    all.group->join();
}

// A sender that arrives at the end of an incarnation reaches the next incarnation of that mailbox.
// Its message is returned, and the next incarnation has all its room.
SIM_SCENARIO_WITHIN(actor, sender_to_full_mailbox_races_next_incarnation, .preemptions = 2,
                    .stale_reads = 0, .preempt_in = MAILBOX_FILES " mailbox_capacity.cpp") {
    const sennit::spawn_options small{.mailbox = 1};
    house all(1, 9, small);
    ledger next;
    next.expected = 1;
    sim::thread other([&] { (void)all.actor.try_tell(put{1}); });
    (void)all.actor.try_tell(quit{});
    sennit::actor_ref<keeper> second;
    all.one.run([&] {
        if (!all.actor.alive())
            second =
                // in the same slot, if that slot was returned
                all.group->spawn<keeper>(small, next);
    });
    other.join();
    if (second) {
        sim::check(second.send(put{2}) == sennit::send_status::sent, "there will be room");
        next.enough.wait();
    }
}

// Two workers: the owner, and a worker that may acquire the ownership.
SIM_SCENARIO_WITHIN(actor, two_workers_send_to_one_actor, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES " biased_lock.hpp biased_lock.cpp run_queue.hpp") {
    house all(2, 2);
    sim::thread other([&] { all.one.run([&] { all.actor.tell(put{1}); }); });
    all.one.run([&] { all.actor.tell(put{2}); });
    all.what.enough.wait();
    other.join();
}

// The system starts to refuse membarrier while the actor's handler is blocked
// (src/actors/runtime/mailbox.hpp, 6). The handler may continue in the thread of the other worker,
// which woke it while the owner slept. Then the owner is asked to hand the actor over. Messages
// that are sent meanwhile, to the owner or to an actor without owner, come after the messages sent
// before.
SIM_SCENARIO_WITHIN(actor, batch_continues_on_other_worker_without_membarrier, .preemptions = 2,
                    .stale_reads = 1,
                    .preempt_in = MAILBOX_FILES " biased_lock.hpp biased_lock.cpp one_shot.cpp") {
    house all(2, 2);
    sim::calmly([&] { all.actor.tell(nap{}); });
    sim::refuse_barriers();
    waker other(all.what.end_of_nap, static_cast<std::uint16_t>(3 - all.what.naps_on));
    all.one->core().post(other);
    all.actor.tell(put{1});
    all.actor.tell(put{2});
    all.what.enough.wait();
    sim::check(all.what.sum == 12, "handled in the order of sending");
}

// A worker other than the owner has taken the wakeup, and membarrier is refused: the wakeup is
// returned. The owner is kept away until that has happened.
SIM_SCENARIO_WITHIN(actor, wakeup_is_returned_to_owner_without_membarrier, .preemptions = 2,
                    .stale_reads = 1,
                    .preempt_in = MAILBOX_FILES " biased_lock.hpp biased_lock.cpp") {
    house all(2, 2);
    sim::refuse_barriers();
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.one.run([&] { all.actor.tell(put{2}); });
    all.what.enough.wait();
    other.join();
}

// An actor is bound to a worker that does not own its slot. Without membarrier the actor cannot be
// given to that worker, so its first message is forwarded.
SIM_SCENARIO_WITHIN(actor, bound_actor_is_created_without_membarrier, .preemptions = 2,
                    .stale_reads = 1,
                    .preempt_in = MAILBOX_FILES " biased_lock.hpp biased_lock.cpp") {
    house all(2, 2);
    sim::refuse_barriers();
    ledger two;
    two.expected = 1;
    all.what.expected = 1;
    // Both slots may belong to one worker.
    const sennit::spawn_options here{.worker = 0}, there{.worker = 1};
    const auto first = all.group->spawn<keeper>(here, all.what),
               second = all.group->spawn<keeper>(there, two);
    first.tell(put{1});
    second.tell(put{2});
    all.what.enough.wait();
    two.enough.wait();
    sim::calm_from_here();
    all.group.reset();
}

// An actor floods a receiver that is bound to the other worker, and is rescheduled behind the
// receiver (src/actors/runtime/mailbox.hpp, 7). Its wakeup carries the messages that it has sent to
// itself, or that a thread sends to it meanwhile.
SIM_SCENARIO_WITHIN(actor, flooding_sender_is_rescheduled_behind_receiver, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES " biased_lock.hpp biased_lock.cpp run_queue.hpp") {
    house all(2, 4, {.worker = 0});
    auto from = all.group->spawn<talker>({.initial_worker = 1}, all.actor, 4);
    from.tell(put{1});
    all.what.enough.wait();
    sim::check(all.what.sum == 1234, "handled in the order of sending");
}
SIM_SCENARIO_WITHIN(actor, messages_follow_sender_rescheduled_behind_receiver, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES " biased_lock.hpp biased_lock.cpp run_queue.hpp") {
    house all(2, 6, {.worker = 0});
    auto from = all.group->spawn<talker>({.initial_worker = 1}, all.actor, 0);
    for (const int n : {1, 3, 5}) from.tell(put{n});
    all.what.enough.wait();
    sim::check(all.what.sum == 123456, "handled in the order of sending");
}

// A thief has taken the receiver and is moving it. The sender moves to the worker where the
// receiver will most likely arrive.
SIM_SCENARIO_WITHIN(actor, flooding_sender_is_rescheduled_behind_stolen_receiver, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES
                    " lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(1, 6);
    auto from = all.group->spawn<talker>(all.actor, 6);
    sim::thread thief([&] { all.steal_from_first_worker(); });
    from.tell(put{1});
    all.what.enough.wait();
    thief.join();
    sim::check(all.what.sum == 123456, "handled in the order of sending");
}

// An actor that receives from the other worker migrates there (src/actors/runtime/mailbox.hpp, 8),
// while that worker or a thread continues to send. The actor ends before the migration, during it,
// or after it.
SIM_SCENARIO_WITHIN(actor, receiver_migrates_to_sender, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES
                    " mailbox_migration.cpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 4, {.initial_worker = 1});
    auto from = all.group->spawn<talker>({.worker = 0}, all.actor, 0);
    from.tell(put{1});
    all.actor.tell(put{5});
    all.actor.tell(put{6});
    all.what.enough.wait();
    const int sum = all.what.sum;
    sim::check(sum == 1256 || sum == 1526 || sum == 1562 || sum == 5126 || sum == 5162 ||
                   sum == 5612,
               "each sender's messages are handled in the order of sending");
}
SIM_SCENARIO_WITHIN(actor, receiver_that_migrates_to_sender_ends, .preemptions = 2,
                    .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES
                    " mailbox_migration.cpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 9, {.initial_worker = 1});
    auto from = all.group->spawn<talker>({.worker = 0}, all.actor, 0);
    from.tell(put{1});
    all.actor.tell(put{5});
    all.actor.tell(quit{});
    from.tell(quit{});
    all.group->join();
    sim::check(!all.actor.alive(), "the actor has ended");
}

// A handler sends, and waits for the effect: the LIFO slot of its worker is flushed. There is one
// worker, so no thief could take the message.
SIM_SCENARIO_WITHIN(actor, handler_waits_for_effect_of_its_message, .preemptions = 2,
                    .stale_reads = 1) {
    house all(1, 1);
    event unused;
    auto through = all.group->spawn<relay>(all.actor, 1, all.what, unused,
                                           [](ledger& what, event&) { what.enough.wait(); });
    through.tell(put{1});
    all.what.enough.wait();
    sim::check(all.what.sum == 1, "the message was handled");
}

// A handler sends, and yields instead of waiting: its message is ready work.
SIM_SCENARIO_WITHIN(actor, handler_yields_to_receiver_of_its_message, .preemptions = 2,
                    .stale_reads = 1) {
    house all(1, 1);
    event unused;
    auto through =
        all.group->spawn<relay>(all.actor, 1, all.what, unused, [](ledger& what, event&) {
            sennit::sched::yield();
            sim::check(what.sum == 1, "the message was handled during the yield");
        });
    through.tell(put{1});
    all.what.enough.wait();
}

// A handler sends, then keeps its worker's thread until the message is handled: another worker
// takes the message out of the LIFO slot.
SIM_SCENARIO_WITHIN(actor, thief_takes_message_from_lifo_slot, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES
                    " lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 1);
    event unused;
    auto through = all.group->spawn<relay>(
        all.actor, 1, all.what, unused, [](ledger& what, event&) { what.blocking_enough.wait(); });
    through.tell(put{1});
    all.what.enough.wait();
}

// The message in the LIFO slot goes to the next receiver, while a thread sends to that receiver,
// too.
SIM_SCENARIO_WITHIN(actor, thread_sends_to_receiver_in_lifo_slot, .preemptions = 2,
                    .stale_reads = 1) {
    house all(1, 2);
    event unused;
    auto through = all.group->spawn<relay>(all.actor, 1, all.what, unused, nullptr);
    sim::thread other([&] { all.actor.tell(put{2}); });
    through.tell(put{1});
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12 || all.what.sum == 21, "each message was handled once");
}

// Two messages, of which a thief may take the first from the LIFO slot: they are handled in order.
SIM_SCENARIO_WITHIN(actor, thief_comes_between_two_messages, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES
                    " lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(1, 2);
    event unused;
    auto through = all.group->spawn<relay>(all.actor, 2, all.what, unused, nullptr);
    sim::thread thief([&] { all.steal_from_first_worker(); });
    through.tell(put{1});
    all.what.enough.wait();
    thief.join();
    sim::check(all.what.sum == 12, "handled in the order of sending");
}

// A thief enters before the handler sends. The thief sees a message that it finds in the LIFO slot
// completely.
SIM_SCENARIO_WITHIN(actor, thief_enters_before_message, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES
                    " lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(1, 1);
    event unused;
    auto through = all.group->spawn<relay>(all.actor, 1, all.what, unused, nullptr);
    sim::thread thief([&] {
        sennit::sched::run_queue& queue = all.one->core().worker_at(0).queue();
        (void)queue.with_remote_lock([&]() noexcept {
            if (queue.lifo.held())
                sim::check(all.what.passed_on == 1, "the write before the send is visible");
        });
    });
    through.tell(put{1});
    all.what.enough.wait();
    thief.join();
}

// Another thread learns of the message in the LIFO slot and sends a message. Its message comes
// behind the first, also when another worker takes the wakeup.
SIM_SCENARIO_WITHIN(actor, later_message_stays_behind_lifo_slot, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = MAILBOX_FILES
                    " lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 2);
    event sent;
    auto through = all.group->spawn<relay>(all.actor, 1, all.what, sent,
                                           [](ledger&, event& told) { told.set(); });
    sim::thread other([&] {
        sent.wait();
        all.actor.tell(put{2});
    });
    through.tell(put{1});
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12, "cause before effect");
}

// A message arrives while its receiver's constructor ends. It is kept, or it finds the constructed
// receiver, and later messages come behind it.
SIM_SCENARIO_WITHIN(actor, message_races_construction, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2);
    event known;
    sennit::actor_ref<newborn> who;
    sim::thread other([&] {
        known.wait();
        sim::check(who.try_tell(put{1}) == sennit::send_status::sent,
                   "the message is kept or accepted");
        sim::check(who.try_tell(put{2}) == sennit::send_status::sent,
                   "the next message is kept or accepted");
    });
    (void)all.group->spawn<newborn>(all.what, who, known);
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12, "handled in the order of sending");
}

// A message that came too late for the last incarnation of a slot starts a batch. The batch races a
// message that the next incarnation sends to itself before it has begun: that message stays for the
// incarnation.
SIM_SCENARIO_WITHIN(actor, late_message_races_construction, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    sennit::sched::address last;
    sim::calmly([&] {
        try {
            all.group->spawn<unborn>(&last);
        } catch (failure) {
            // the slot is free, and the next actor takes it
        }
    });
    sim::thread other([&] {
        (void)sennit::sched::mailbox_table::find(last.slot)->accept(
            last, *sennit::actor_ref<newborn>::make_told(put{9}));
    });
    (void)all.group->spawn<newborn>(all.what, 1);
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 1, "the early message was handled, and no other");
}

SIM_SCENARIO_WITHIN(actor, stop_races_message, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    sim::thread other([&] { all.actor.tell(quit{}); });
    const bool sent = all.actor.try_tell(put{1}) == sennit::send_status::sent;
    other.join();
    all.group->join();
    sim::check(!all.actor.alive(), "the actor has ended");
    sim::check(sent ? all.what.sum <= 1 : all.what.sum == 0,
               "a message that came too late was not handled");
}

// A message that reaches an actor at the moment of its end starts another batch. The slot is still
// returned only once.
SIM_SCENARIO_WITHIN(actor, slot_is_returned_once, .preemptions = 2, .stale_reads = 0) {
    house all(1, 1);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.actor.tell(quit{});
    other.join();
    all.group->join();
    sim::calmly([&] {
        // Runs behind all batches.
        (void)all.one.run([&] {
            const auto one = all.group->spawn<keeper>(all.what),
                       two = all.group->spawn<keeper>(all.what);
            sim::check(one.address().slot != two.address().slot, "each actor has its own mailbox");
        });
    });
}

// A group counts its actors in two shards, one of which is empty for a while.
SIM_SCENARIO_WITHIN(actor, group_ends_in_two_shards, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = "actor_group.cpp actor_group.hpp spin_lock.hpp") {
    house all(2, 1, {.worker = 0});
    sim::calmly([&] { all.group->spawn<breeder>({.worker = 1}, all.what).tell(put{1}); });
    all.actor.tell(quit{});
    all.group->join();
    sim::check(all.what.passed_on == 1, "all actors have ended");
    sim::check(all.group->size() == 0, "all actors are counted out");
    all.group.reset();
}

SIM_SCENARIO_WITHIN(actor, group_ends_while_message_arrives, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.group->stop();
    all.group->join();
    sim::check(all.group->size() == 0, "no actor is alive");
    other.join();
}

// A group ends while memory is refused. One message ends all actors, one after the other, and is
// returned before the group is gone, also when it reaches an actor that has just ended by itself.
SIM_SCENARIO_WITHIN(actor, group_ends_without_memory, .preemptions = 2, .stale_reads = 1) {
    house all(1, 9);
    sennit::actor_ref<keeper> second;
    sim::calmly([&] { second = all.group->spawn<keeper>(all.what); });
    all.actor.tell(quit{});
    sim::refuse_memory(true);
    all.group.reset();
    sim::refuse_memory(false);
    sim::check(!all.actor.alive() && !second.alive(), "both actors have ended");
}

// Two stops without memory: the second finds the message in use, and has it check again.
SIM_SCENARIO_WITHIN(actor, two_threads_stop_group_without_memory, .preemptions = 2,
                    .stale_reads = 1) {
    house all(1, 9);
    sim::refuse_memory(true);
    sim::thread other([&] { all.group->stop(); });
    all.group->stop();
    all.group->join();
    other.join();
    all.group.reset();
    sim::refuse_memory(false);
    sim::check(!all.actor.alive(), "the actor has ended");
}

// An address arrives through a relaxed word, without its creator's help. A sender that finds its
// generation valid sees the state with which the incarnation began. (The slot was used before.
// Every sender must know that the slot itself was created.)
SIM_SCENARIO_WITHIN(actor, address_arrives_through_relaxed_word, .preemptions = 2,
                    .stale_reads = 2) {
    house all(1, 1);
    sim::calmly([&] {
        try {
            all.group->spawn<unborn>();
        } catch (failure) {
            // the slot is free, and the next actor takes it
        }
    });
    sennit::base::atomic<std::uint64_t> word{0};
    bool sent = false;
    sim::thread other([&] {
        const std::uint64_t seen = word.load_rlx(); // orders nothing: the scenario tests this
        const sennit::sched::address who{static_cast<std::uint32_t>(seen >> 32),
                                         static_cast<std::uint32_t>(seen)};
        sent = sennit::actor_ref<keeper>(who).try_tell(put{1}) == sennit::send_status::sent;
        if (sent) all.what.enough.wait();
    });
    const sennit::sched::address who = all.group->spawn<keeper>(all.what).address();
    // orders nothing: the scenario tests this
    word.store_rlx(std::uint64_t{who.slot} << 32 | who.generation);
    other.join();
    sim::check(all.what.sum == (sent ? 1 : 0), "a sent message was handled");
}
