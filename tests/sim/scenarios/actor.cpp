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

namespace {

// Passes on what it is sent, and what comes after it, then does `then`.
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

// Sends two for each, the second of which may be one too many (flood_detector.hpp), and goes on
// with the next up to `last`.
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

// Spawns one where it is, has it stopped, and ends.
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

// The edge from empty to not empty: whoever sends first schedules it, and nobody else.
SIM_SCENARIO_WITHIN(actor, two_threads_wake_an_idle_one, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.actor.tell(put{2});
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12 || all.what.sum == 21, "each has come once");
}

// A message meets the end of the turn of the one before.
SIM_SCENARIO_WITHIN(actor, a_message_meets_the_end_of_a_batch, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2);
    all.actor.tell(put{1});
    all.actor.tell(put{2});
    all.what.enough.wait();
    sim::check(all.what.sum == 12, "both have come, in order");
}

// A sender on a worker and one on none: one through the worker's own queue, the other from afar.
SIM_SCENARIO_WITHIN(actor, a_worker_and_a_thread_send_to_one, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.one.run([&] { all.actor.tell(put{2}); });
    all.what.enough.wait();
    other.join();
}

// What a thread has sent goes before what the owner's thread is asked to send after it.
SIM_SCENARIO_WITHIN(actor, older_messages_go_first, .preemptions = 2, .stale_reads = 0) {
    house all(1, 2);
    event sent;
    sim::thread other([&] {
        all.one.run([&] {
            sent.wait(); // blocks the thread, so the notice of the first one lies there
            all.actor.tell(put{2});
        });
    });
    all.actor.tell(put{1});
    sent.set();
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12, "in the order in which they were sent");
}

// A sender that finds no room meets the turn that makes some.
SIM_SCENARIO_WITHIN(actor, a_full_mailbox_makes_room, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2, {.mailbox = 1});
    sim::check(all.actor.send(put{1}) == sennit::send_status::sent, "there is room for one");
    sim::check(all.actor.send(put{2}) == sennit::send_status::sent, "and then again");
    all.what.enough.wait();
    sim::check(all.what.sum == 12, "both have come, in order");
}

// A handler blocks; meanwhile the notice of more mail is read, and leaves that to the turn.
SIM_SCENARIO_WITHIN(actor, messages_for_one_that_is_blocked, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    all.actor.tell(nap{});
    all.actor.tell(put{1});
    all.what.end_of_nap.set();
    all.what.enough.wait();
    sim::check(all.what.sum == 1, "it has come");
}

// It ends with a full mailbox: whoever waits for room is told, by what is counted out as dead.
SIM_SCENARIO_WITHIN(actor, one_with_a_full_mailbox_ends, .preemptions = 2, .stale_reads = 1) {
    house all(1, 9, {.mailbox = 1});
    sim::thread other([&] { (void)all.actor.send(put{1}); });
    (void)all.actor.send(quit{});
    (void)all.actor.send(put{2});
    other.join();
    all.group->join();
}

// It ends instead: whoever waits for room is told.
SIM_SCENARIO_WITHIN(actor, a_full_mailbox_ends, .preemptions = 2, .stale_reads = 1) {
    house all(1, 9, {.mailbox = 1});
    (void)all.actor.send(quit{});
    const auto then = all.actor.send(put{2});
    all.group->join();
    sim::check(then == sennit::send_status::dead || all.what.sum == 0, "nobody handles it");
}

// One is refused while another waits for room. (Who was refused counted itself in and out again,
// and whoever looked for room between the two slept on in front of an empty mailbox.)
SIM_SCENARIO_WITHIN(actor, one_is_refused_beside_one_that_waits_for_room, .preemptions = 2,
                    .stale_reads = 0, .preempt_in = "mailbox_capacity.cpp mailbox.cpp") {
    house all(1, 9, {.mailbox = 1});
    sim::thread other([&] { (void)all.actor.try_tell(put{4}); });
    (void)all.actor.send(put{1});
    (void)all.actor.send(quit{});
    other.join();
    all.group->join();
}

// Who meets the end of a life, in the next life of that mailbox: what it has sent is returned, and
// that one has all its room.
SIM_SCENARIO_WITHIN(actor, a_sender_to_a_full_mailbox_meets_its_next_incarnation, .preemptions = 2,
                    .stale_reads = 0, .preempt_in = "mailbox_capacity.cpp mailbox.cpp") {
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
                all.group->spawn<keeper>(small, next); // in the same slot, if that was given back
    });
    other.join();
    if (second) {
        sim::check(second.send(put{2}) == sennit::send_status::sent, "there will be room");
        next.enough.wait();
    }
}

// Two workers: the owner and another one, which may take it over.
SIM_SCENARIO_WITHIN(
    actor, two_workers_send_to_one, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "mailbox.cpp mailbox.hpp biased_lock.hpp biased_lock.cpp run_queue.hpp") {
    house all(2, 2);
    sim::thread other([&] { all.one.run([&] { all.actor.tell(put{1}); }); });
    all.one.run([&] { all.actor.tell(put{2}); });
    all.what.enough.wait();
    other.join();
}

// The system refuses membarriers from a moment on at which the actor's handler is blocked
// (src/actors/runtime/mailbox.hpp, 6). If that goes on in the other worker's thread, which has
// woken it while the owner slept, the owner is asked to hand the actor over; what is sent
// meanwhile, to the owner or to nobody, comes after what was sent before.
SIM_SCENARIO_WITHIN(
    actor, a_batch_continues_elsewhere_without_barriers, .preemptions = 2, .stale_reads = 1,
    .preempt_in = "mailbox.cpp mailbox.hpp biased_lock.hpp biased_lock.cpp one_shot.cpp") {
    house all(2, 2);
    sim::calmly([&] { all.actor.tell(nap{}); });
    sim::refuse_barriers();
    waker other(all.what.end_of_nap, static_cast<std::uint16_t>(3 - all.what.naps_on));
    all.one->core().post(other);
    all.actor.tell(put{1});
    all.actor.tell(put{2});
    all.what.enough.wait();
    sim::check(all.what.sum == 12, "in the order in which they were sent");
}

// The same for a notice that another worker than the owner has taken: it goes back. The owner is
// kept away until it has been.
SIM_SCENARIO_WITHIN(actor, a_wakeup_is_returned_to_the_owner_without_barriers, .preemptions = 2,
                    .stale_reads = 1,
                    .preempt_in = "mailbox.cpp mailbox.hpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 2);
    sim::refuse_barriers();
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.one.run([&] { all.actor.tell(put{2}); });
    all.what.enough.wait();
    other.join();
}

// One that is bound to another worker than its slot's, which it cannot be given to: its first mail
// is sent on.
SIM_SCENARIO_WITHIN(actor, a_bound_one_is_made_without_barriers, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = "mailbox.cpp mailbox.hpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 2);
    sim::refuse_barriers();
    ledger two;
    two.expected = 1;
    all.what.expected = 1;
    const sennit::spawn_options here{.worker = 0},
        there{.worker = 1}; // the slots may both be one worker's
    const auto first = all.group->spawn<keeper>(here, all.what),
               second = all.group->spawn<keeper>(there, two);
    first.tell(put{1});
    second.tell(put{2});
    all.what.enough.wait();
    two.enough.wait();
    sim::calm_from_here();
    all.group.reset();
}

// One outruns a receiver that is bound to the other worker, and goes on behind it
// (src/actors/runtime/mailbox.hpp, 7): by its notice, with what it has sent to itself, or what a
// thread sends to it meanwhile.
SIM_SCENARIO_WITHIN(
    actor, who_floods_its_receiver_is_rescheduled_behind_it, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "mailbox.cpp mailbox.hpp biased_lock.hpp biased_lock.cpp run_queue.hpp") {
    house all(2, 4, {.worker = 0});
    auto from = all.group->spawn<talker>(all.actor, 4);
    from.tell(put{1});
    all.what.enough.wait();
    sim::check(all.what.sum == 1234, "in the order in which they were sent");
}
SIM_SCENARIO_WITHIN(
    actor, what_is_sent_to_who_is_rescheduled_behind_its_receiver, .preemptions = 2,
    .stale_reads = 0,
    .preempt_in = "mailbox.cpp mailbox.hpp biased_lock.hpp biased_lock.cpp run_queue.hpp") {
    house all(2, 6, {.worker = 0});
    auto from = all.group->spawn<talker>(all.actor, 0);
    for (const int n : {1, 3, 5}) from.tell(put{n});
    all.what.enough.wait();
    sim::check(all.what.sum == 123456, "in the order in which they were sent");
}

// The receiver is on its way, in a thief's hands: the sender goes where that will most likely come
// to lie.
SIM_SCENARIO_WITHIN(
    actor, who_floods_a_stolen_receiver_is_rescheduled_behind_it, .preemptions = 2,
    .stale_reads = 0,
    .preempt_in =
        "mailbox.cpp mailbox.hpp lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(1, 6);
    auto from = all.group->spawn<talker>(all.actor, 6);
    sim::thread thief([&] { all.steal_from_first_worker(); });
    from.tell(put{1});
    all.what.enough.wait();
    thief.join();
    sim::check(all.what.sum == 123456, "in the order in which they were sent");
}

// One that is sent to from the other worker goes there (src/actors/runtime/mailbox.hpp, 8), while
// that one sends on, or a thread does; and it ends before, on its way, or there.
SIM_SCENARIO_WITHIN(
    actor, who_is_sent_to_migrates_to_its_sender, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "mailbox.cpp mailbox_migration.cpp mailbox.hpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 4, {.initial_worker = 1});
    auto from = all.group->spawn<talker>({.worker = 0}, all.actor, 0);
    from.tell(put{1});
    all.actor.tell(put{5});
    all.actor.tell(put{6});
    all.what.enough.wait();
    const int sum = all.what.sum;
    sim::check(sum == 1256 || sum == 1526 || sum == 1562 || sum == 5126 || sum == 5162 ||
                   sum == 5612,
               "each in the order in which they were sent");
}
SIM_SCENARIO_WITHIN(
    actor, who_migrates_to_its_sender_ends, .preemptions = 2, .stale_reads = 0,
    .preempt_in = "mailbox.cpp mailbox_migration.cpp mailbox.hpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 9, {.initial_worker = 1});
    auto from = all.group->spawn<talker>({.worker = 0}, all.actor, 0);
    from.tell(put{1});
    all.actor.tell(put{5});
    all.actor.tell(quit{});
    from.tell(quit{});
    all.group->join();
    sim::check(!all.actor.alive(), "it has ended");
}

// A handler sends, and waits for what comes of it: what is in its worker's hand is let go. One
// worker, so nobody else would take it.
SIM_SCENARIO_WITHIN(actor, a_handler_waits_for_what_it_has_sent, .preemptions = 2,
                    .stale_reads = 1) {
    house all(1, 1);
    event unused;
    auto through = all.group->spawn<relay>(all.actor, 1, all.what, unused,
                                           [](ledger& what, event&) { what.enough.wait(); });
    through.tell(put{1});
    all.what.enough.wait();
    sim::check(all.what.sum == 1, "it has come");
}

// The same for who yields instead: what it has sent is work.
SIM_SCENARIO_WITHIN(actor, a_handler_yields_to_what_it_has_sent, .preemptions = 2,
                    .stale_reads = 1) {
    house all(1, 1);
    event unused;
    auto through =
        all.group->spawn<relay>(all.actor, 1, all.what, unused, [](ledger& what, event&) {
            sennit::sched::yield();
            sim::check(what.sum == 1, "it was handled meanwhile");
        });
    through.tell(put{1});
    all.what.enough.wait();
}

// A handler sends, then keeps its worker's thread until that was handled: another worker takes it
// out of the hand.
SIM_SCENARIO_WITHIN(
    actor, a_thief_takes_what_lies_in_the_lifo_slot, .preemptions = 2, .stale_reads = 0,
    .preempt_in =
        "mailbox.cpp mailbox.hpp lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(2, 1);
    event unused;
    auto through = all.group->spawn<relay>(
        all.actor, 1, all.what, unused, [](ledger& what, event&) { what.blocking_enough.wait(); });
    through.tell(put{1});
    all.what.enough.wait();
}

// The hand's one piece goes on to who is next, while a thread sends to that one, too.
SIM_SCENARIO_WITHIN(actor, a_thread_sends_to_who_is_next, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2);
    event unused;
    auto through = all.group->spawn<relay>(all.actor, 1, all.what, unused, nullptr);
    sim::thread other([&] { all.actor.tell(put{2}); });
    through.tell(put{1});
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12 || all.what.sum == 21, "each has come once");
}

// Two pieces, of which a thief may take the first one out of the hand: they come in order.
SIM_SCENARIO_WITHIN(
    actor, a_thief_comes_between_two_pieces, .preemptions = 2, .stale_reads = 0,
    .preempt_in =
        "mailbox.cpp mailbox.hpp lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(1, 2);
    event unused;
    auto through = all.group->spawn<relay>(all.actor, 2, all.what, unused, nullptr);
    sim::thread thief([&] { all.steal_from_first_worker(); });
    through.tell(put{1});
    all.what.enough.wait();
    thief.join();
    sim::check(all.what.sum == 12, "in the order in which they were sent");
}

// A thief is inside before the handler sends: what it then finds in the hand, it sees whole.
SIM_SCENARIO_WITHIN(
    actor, a_thief_is_there_before_the_piece, .preemptions = 2, .stale_reads = 0,
    .preempt_in =
        "mailbox.cpp mailbox.hpp lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
    house all(1, 1);
    event unused;
    auto through = all.group->spawn<relay>(all.actor, 1, all.what, unused, nullptr);
    sim::thread thief([&] {
        sennit::sched::run_queue& queue = all.one->core().worker_at(0).queue();
        (void)queue.with_remote_lock([&]() noexcept {
            if (queue.lifo.held()) sim::check(all.what.passed_on == 1, "and what came before it");
        });
    });
    through.tell(put{1});
    all.what.enough.wait();
    thief.join();
}

// What another thread sends, because it has learnt of what lies in the hand, comes behind that; and
// so it does when another worker takes the notice.
SIM_SCENARIO_WITHIN(
    actor, what_follows_on_what_lies_in_the_lifo_slot, .preemptions = 2, .stale_reads = 0,
    .preempt_in =
        "mailbox.cpp mailbox.hpp lifo_slot.hpp run_queue.hpp biased_lock.hpp biased_lock.cpp") {
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

// Mail meets the end of its receiver's constructor: it is kept, or it finds who lives, and what
// follows comes behind.
SIM_SCENARIO_WITHIN(actor, message_meets_a_construction, .preemptions = 2, .stale_reads = 1) {
    house all(1, 2);
    event known;
    sennit::actor_ref<newborn> who;
    sim::thread other([&] {
        known.wait();
        sim::check(who.try_tell(put{1}) == sennit::send_status::sent, "it is kept or taken");
        sim::check(who.try_tell(put{2}) == sennit::send_status::sent, "and so is the next one");
    });
    (void)all.group->spawn<newborn>(all.what, who, known);
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 12, "in the order in which they were sent");
}

// Mail that came too late for the last life of a slot makes a turn, which meets what the next life
// sends itself before it has begun: that stays for the life.
SIM_SCENARIO_WITHIN(actor, late_message_meets_a_construction, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    sennit::sched::address last;
    sim::calmly([&] {
        try {
            all.group->spawn<unborn>(&last);
        } catch (failure) {
            // its slot is free, and the next one's
        }
    });
    sim::thread other([&] {
        (void)sennit::sched::mailbox_table::find(last.slot)->accept(
            last, *sennit::actor_ref<newborn>::make_told(put{9}));
    });
    (void)all.group->spawn<newborn>(all.what, 1);
    all.what.enough.wait();
    other.join();
    sim::check(all.what.sum == 1, "what was sent early, and nothing else");
}

SIM_SCENARIO_WITHIN(actor, a_stop_meets_a_message, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    sim::thread other([&] { all.actor.tell(quit{}); });
    const bool sent = all.actor.try_tell(put{1}) == sennit::send_status::sent;
    other.join();
    all.group->join();
    sim::check(!all.actor.alive(), "it has ended");
    sim::check(sent ? all.what.sum <= 1 : all.what.sum == 0, "what came too late was not handled");
}

// Mail that reaches an actor in the moment of its end makes a turn of its own: the slot goes back
// once all the same.
SIM_SCENARIO_WITHIN(actor, a_slot_goes_back_once, .preemptions = 2, .stale_reads = 0) {
    house all(1, 1);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.actor.tell(quit{});
    other.join();
    all.group->join();
    sim::calmly([&] {
        (void)all.one.run([&] { // behind all turns
            const auto one = all.group->spawn<keeper>(all.what),
                       two = all.group->spawn<keeper>(all.what);
            sim::check(one.address().slot != two.address().slot, "each has a mailbox of its own");
        });
    });
}

// A group counts its actors in two branches, one of which has nobody for a while.
SIM_SCENARIO_WITHIN(actor, a_group_ends_in_two_branches, .preemptions = 2, .stale_reads = 1,
                    .preempt_in = "actor_group.cpp actor_group.hpp spin_lock.hpp") {
    house all(2, 1, {.worker = 0});
    sim::calmly([&] { all.group->spawn<breeder>({.worker = 1}, all.what).tell(put{1}); });
    all.actor.tell(quit{});
    all.group->join();
    sim::check(all.what.passed_on == 1, "all have ended");
    sim::check(all.group->size() == 0, "and are counted out");
    all.group.reset();
}

SIM_SCENARIO_WITHIN(actor, a_group_ends_while_a_message_comes, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.group->stop();
    all.group->join();
    sim::check(all.group->size() == 0, "nobody lives");
    other.join();
}

// The same without memory: one piece of mail ends all, one after the other, and is home when the
// group is gone; also where it comes to one that has just ended by itself.
SIM_SCENARIO_WITHIN(actor, a_group_ends_without_memory, .preemptions = 2, .stale_reads = 1) {
    house all(1, 9);
    sennit::actor_ref<keeper> second;
    sim::calmly([&] { second = all.group->spawn<keeper>(all.what); });
    all.actor.tell(quit{});
    sim::refuse_memory(true);
    all.group.reset();
    sim::refuse_memory(false);
    sim::check(!all.actor.alive() && !second.alive(), "both have ended");
}

// Two stops: who finds the piece on its way has it look once more.
SIM_SCENARIO_WITHIN(actor, two_stop_a_group_without_memory, .preemptions = 2, .stale_reads = 1) {
    house all(1, 9);
    sim::refuse_memory(true);
    sim::thread other([&] { all.group->stop(); });
    all.group->stop();
    all.group->join();
    other.join();
    all.group.reset();
    sim::refuse_memory(false);
    sim::check(!all.actor.alive(), "it has ended");
}

// An address that comes without its maker's knowledge, in a relaxed word: whoever finds its
// generation knows what the life began with. (The slot is an old one. That it was made, all who
// send must know.)
SIM_SCENARIO_WITHIN(actor, an_address_comes_by_a_relaxed_word, .preemptions = 2, .stale_reads = 2) {
    house all(1, 1);
    sim::calmly([&] {
        try {
            all.group->spawn<unborn>();
        } catch (failure) {
            // its slot is free, and the next one's
        }
    });
    sennit::base::atomic<std::uint64_t> word{0};
    bool sent = false;
    sim::thread other([&] {
        const std::uint64_t seen = word.load_rlx(); // orders nothing: that is the point
        const sennit::sched::address who{static_cast<std::uint32_t>(seen >> 32),
                                         static_cast<std::uint32_t>(seen)};
        sent = sennit::actor_ref<keeper>(who).try_tell(put{1}) == sennit::send_status::sent;
        if (sent) all.what.enough.wait();
    });
    const sennit::sched::address who = all.group->spawn<keeper>(all.what).address();
    word.store_rlx(std::uint64_t{who.slot} << 32 | who.generation); // as above
    other.join();
    sim::check(all.what.sum == (sent ? 1 : 0), "what was sent was handled");
}
