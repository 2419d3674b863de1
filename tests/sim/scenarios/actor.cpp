// SPDX-License-Identifier: Apache-2.0
// Mailboxes and actors: src/sched/mailbox.hpp, sennit/actor.hpp.
#include "engine.hpp"

#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace {

struct put {
    int n;
};
struct quit {};
struct nap {};

struct log {
    sim::var<int> inside{0};
    sim::var<int> sum{0};
    sennit::event enough;
    sennit::event end_of_nap;
    int expected = 0;
};

// Handlers touch plain data: two at a time would be a race, and be found.
class keeper : public sennit::actor<keeper, put, quit, nap> {
public:
    explicit keeper(log& into) : log_(into) {}
    void on(put m) {
        log_.inside = log_.inside + 1;
        sim::check(log_.inside == 1, "one handler at a time");
        log_.sum = log_.sum * 10 + m.n;
        log_.inside = log_.inside - 1;
        seen_ = seen_ + 1;
        if (seen_ == log_.expected) log_.enough.set();
    }
    void on(quit) { stop(); }
    void on(nap) { log_.end_of_nap.wait(); }

private:
    log& log_;
    sim::var<int> seen_{0}; // written by who makes it: who handles something must know
};

class unborn : public sennit::actor<unborn, put> {
public:
    unborn() { throw failure(); }
    void on(put) {}
};

// A runtime, a group and one actor; all made and ended unexplored.
struct house {
    house(unsigned workers, int expected, const sennit::spawn_options& how = {}) : one(workers) {
        what.expected = expected;
        sim::calmly([&] {
            group.emplace(*one);
            actor = group->spawn<keeper>(how, what);
            (void)sennit::set_dead_letter_handler(nullptr);
        });
    }
    ~house() {
        sim::calm_from_here();
        group.reset();
    }
    engine one;
    log what;
    std::optional<sennit::actor_group> group;
    sennit::actor_ref<keeper> actor;
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
SIM_SCENARIO_WITHIN(actor, a_message_meets_the_end_of_a_turn, .preemptions = 2, .stale_reads = 1) {
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
SIM_SCENARIO_WITHIN(actor, older_mail_goes_first, .preemptions = 2, .stale_reads = 0) {
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
SIM_SCENARIO_WITHIN(actor, mail_for_one_that_is_blocked, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    all.actor.tell(nap{});
    all.actor.tell(put{1});
    all.what.end_of_nap.set();
    all.what.enough.wait();
    sim::check(all.what.sum == 1, "it has come");
}

// It ends with a full mailbox: whoever waits for room is told. (A sender that looked whether it lives by an acquiring
// load could miss the end after it had marked the mailbox as crowded, while the end missed the mark.)
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

// Two workers: the owner and another one, which may take it over.
SIM_SCENARIO_WITHIN(actor, two_workers_send_to_one, .preemptions = 2, .stale_reads = 0,
                    .preempt_in = "mailbox.cpp mailbox.hpp owner_lock.hpp owner_lock.cpp local_queue.hpp") {
    house all(2, 2);
    sim::thread other([&] { all.one.run([&] { all.actor.tell(put{1}); }); });
    all.one.run([&] { all.actor.tell(put{2}); });
    all.what.enough.wait();
    other.join();
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

SIM_SCENARIO_WITHIN(actor, a_group_ends_while_a_message_comes, .preemptions = 2, .stale_reads = 1) {
    house all(1, 1);
    sim::thread other([&] { all.actor.tell(put{1}); });
    all.group->stop();
    all.group->join();
    sim::check(all.group->size() == 0, "nobody lives");
    other.join();
}

// An address that comes without its maker's knowledge, in a relaxed word: whoever finds its generation knows what the
// life began with. (The slot is an old one. That it was made, all who send must know.)
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
        const sennit::sched::address who{static_cast<std::uint32_t>(seen >> 32), static_cast<std::uint32_t>(seen)};
        sent = sennit::actor_ref<keeper>(who).try_tell(put{1}) == sennit::send_status::sent;
        if (sent) all.what.enough.wait();
    });
    const sennit::sched::address who = all.group->spawn<keeper>(all.what).address();
    word.store_rlx(std::uint64_t{who.slot} << 32 | who.generation); // as above
    other.join();
    sim::check(all.what.sum == (sent ? 1 : 0), "what was sent was handled");
}

// As tell_after and tell_every, which look at the system's clock; due at once.
static sennit::actor_timer timer_for(const sennit::actor_ref<keeper>& whom, put message, std::int64_t period_ns = 0) {
    using namespace sennit;
    return actor_timer(
        detail::begin_timer(whom.address(), 0, period_ns,
                            {actor_ref<keeper>::mail_of(message), &detail::copy_told<put>, &detail::drop_told<put>}));
}

// A cancel meets the timer that it is for, and the turn that handles its message.
SIM_SCENARIO_WITHIN(actor, a_cancel_meets_its_timer, .preemptions = 2, .stale_reads = 0) {
    house all(1, 1);
    auto timer = timer_for(all.actor, put{1});
    const bool cancelled = timer.cancel();
    sim::check(!timer.pending(), "either way");
    if (!cancelled) all.what.enough.wait();
    all.actor.stop();
    all.group->join();
    sim::check(all.what.sum == (cancelled ? 0 : 1), "it was handled, or cancelled");
}

// A repeating timer is cancelled while its message arms it again: it does not stay armed.
SIM_SCENARIO_WITHIN(actor, a_cancel_meets_a_timer_that_repeats, .preemptions = 2, .stale_reads = 0) {
    house all(1, 9);
    auto timer = timer_for(all.actor, put{0}, 1'000'000);
    sim::check(timer.cancel(), "it goes on for ever");
    all.actor.stop();
    all.group->join();
    sim::check(all.one->core().clock().next_ns() == sennit::sched::never, "nothing is armed");
}

// A receiver ends while its timer fires.
SIM_SCENARIO_WITHIN(actor, an_end_meets_a_timer, .preemptions = 2, .stale_reads = 0) {
    house all(1, 1);
    auto timer = timer_for(all.actor, put{1});
    all.actor.tell(quit{});
    all.group->join();
    sim::check(!timer.pending() && !timer.cancel(), "it is gone");
}
