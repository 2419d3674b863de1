// SPDX-License-Identifier: Apache-2.0
// The messages of an actor: src/actors/runtime/mailbox.hpp, sennit/actor.hpp.
#include "actor_house.hpp"

#include "actors/runtime/mailbox.hpp"
#include "ground/ground.hpp"
#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <cstdint>

namespace {

// Ends a nap, on that worker.
struct waker : sennit::sched::runnable {
    waker(sennit::event& of, std::uint16_t where)
        : runnable([](runnable* self) noexcept { static_cast<waker*>(self)->ends.set(); }),
          ends(of) {
        affinity = where;
    }
    sennit::event& ends;
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
