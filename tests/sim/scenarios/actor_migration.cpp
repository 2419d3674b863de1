// SPDX-License-Identifier: Apache-2.0
// An actor moves to the worker of its receiver or of its sender: src/actors/runtime/mailbox.hpp, 7
// and 8.
#include "actor_house.hpp"

#include "actors/runtime/mailbox.hpp"
#include "sennit/actor.hpp"

namespace {

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

} // namespace

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
