// SPDX-License-Identifier: Apache-2.0
// Mailboxes and actors: src/sched/mailbox.hpp, sennit/actor.hpp.
#include "engine.hpp"

#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <memory>
#include <optional>

namespace {

struct put {
    int n;
};
struct quit {};

struct log {
    sim::var<int> inside{0};
    sim::var<int> sum{0};
    sennit::event enough;
    int expected = 0;
};

// Handlers touch plain data: two at a time would be a race, and be found.
class keeper : public sennit::actor<keeper, put, quit> {
public:
    explicit keeper(log& into) : log_(into) {}
    void on(put m) {
        log_.inside = log_.inside + 1;
        sim::check(log_.inside == 1, "one handler at a time");
        log_.sum = log_.sum * 10 + m.n;
        log_.inside = log_.inside - 1;
        if (++seen_ == log_.expected) log_.enough.set();
    }
    void on(quit) { stop(); }

private:
    log& log_;
    int seen_ = 0;
};

// A runtime, a group and one actor; all made and ended unexplored.
struct house {
    explicit house(unsigned workers, int expected) : one(workers) {
        what.expected = expected;
        sim::calmly([&] {
            group.emplace(*one);
            actor = group->spawn<keeper>(what);
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

// Two workers: the owner and another one, which may take it over. Two preemptions are too many executions.
SIM_SCENARIO_WITHIN(actor, two_workers_send_to_one, .preemptions = 1, .stale_reads = 0) {
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
