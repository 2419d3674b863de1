// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of an actor and of a group: src/actors/runtime/incarnation_counter.hpp,
// sennit/actor.hpp.
#include "actor_house.hpp"

#include "actors/runtime/mailbox.hpp"
#include "ground/ground.hpp"
#include "sennit/actor.hpp"
#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace {

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
