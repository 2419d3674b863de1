// SPDX-License-Identifier: Apache-2.0
// What the scenarios of actors share: an actor that keeps what it gets, and a runtime, a group and
// one of it.
#pragma once

#include "engine.hpp"

#include "actors/runtime/mailbox.hpp"
#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <cstdint>
#include <optional>

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
    event blocking_enough; // the same for a thread
    sennit::event end_of_nap;
    std::uint16_t naps_on = 0; // a worker's home; written and read unexplored
    int expected = 0;
};

// Handlers touch plain data: two at a time would be a race, and be found.
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
    sim::var<int> seen_{0}; // written by who makes it: who handles something must know
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
    // As a thief: what lies there, and in its hand, goes to the shared queue.
    void steal_from_first_worker() {
        sennit::sched::worker& victim = one->core().worker_at(0);
        sennit::sched::run_queue::batch stolen_batch;
        (void)victim.queue().steal_half(stolen_batch, [&]() noexcept {
            sennit::sched::mailbox::deliver_from_lifo_slot(victim);
        });
        while (sennit::sched::runnable* item = stolen_batch.woken.pop_front())
            one->core().post(*item);
        while (sennit::sched::runnable* item = stolen_batch.spawned.pop_front())
            one->core().post(*item);
    }
    engine one;
    ledger what;
    std::optional<sennit::actor_group> group;
    sennit::actor_ref<keeper> actor;
};

} // namespace
