// SPDX-License-Identifier: Apache-2.0
// The message in the LIFO slot of a worker: src/core/queues/lifo_slot.hpp.
#include "actor_house.hpp"

#include "sennit/actor.hpp"

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

} // namespace

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
