// SPDX-License-Identifier: Apache-2.0
// Shared by the scenarios of actors: an actor that records its messages, and a runtime with a group
// and one such actor.
#pragma once

#include "engine.hpp"

#include "actors/runtime/mailbox.hpp"
#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <cstdint>
#include <optional>

// The sources of a mailbox and of its members, for `preempt_in`.
#define MAILBOX_FILES                                                                              \
    "mailbox.cpp mailbox.hpp mailbox_batch.cpp batch_state.hpp wakeup.hpp "                        \
    "incarnation_counter.hpp "                                                                     \
    "mailbox_capacity.hpp mailbox_owner.hpp mailbox_owner.cpp remote_inbox.hpp remote_inbox.cpp"

namespace {

struct put {
    int n;
};
struct quit {};
struct nap {};

struct ledger {
    sim::var<int> inside{0};
    sim::var<int> sum{0};
    sim::var<int> passed_on{0}; // by a relay
    sennit::event enough;
    event blocking_enough; // for a waiter that blocks its thread
    sennit::event end_of_nap;
    // The affinity for the nap's end; written and read outside the explored part.
    std::uint16_t naps_on = 0;
    int expected = 0;
};

// Handlers touch plain data, so the explorer reports two concurrent handlers as a race.
class keeper : public sennit::actor<keeper, put, quit, nap> {
public:
    explicit keeper(ledger& into) : log_(into) {}
    void on(put m) {
        log_.inside = log_.inside + 1;
        sim::check(log_.inside == 1, "one handler at a time");
        log_.sum = log_.sum * 10 + m.n;
        log_.inside = log_.inside - 1;
        seen_ = seen_ + 1;
        if (seen_ != log_.expected) return;
        log_.enough.set();
        log_.blocking_enough.set();
    }
    void on(quit) { stop(); }
    void on(nap) {
        log_.naps_on = sennit::sched::this_worker()->affinity();
        log_.end_of_nap.wait();
    }

private:
    ledger& log_;
    // Written by the creator: every handler must see the write.
    sim::var<int> seen_{0};
};

// A runtime, a group and one actor, created and destroyed outside the explored part.
struct house {
    house(unsigned workers, int expected, const sennit::spawn_options& how = {},
          bool consolidate = false)
        : one(workers, 0, 0, consolidate) {
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
    // Acts as a thief: moves the tasks of the worker's queue and LIFO slot to the injector.
    void steal_from_first_worker() {
        sennit::sched::worker& victim = one->core().worker_at(0);
        sennit::sched::run_queue::batch stolen_batch;
        (void)victim.queue().steal_half(stolen_batch, [&]() noexcept {
            sennit::sched::mailbox::deliver_from_lifo_slot(victim);
        });
        while (sennit::sched::runnable* item = stolen_batch.pop()) one->core().post(*item);
    }
    engine one;
    ledger what;
    std::optional<sennit::actor_group> group;
    sennit::actor_ref<keeper> actor;
};

} // namespace
