// SPDX-License-Identifier: Apache-2.0
// Waits with more than one end: sennit/detail/core/wait.hpp, src/core/wait/wait.cpp.
//
// A deadline passes in the explorer only while nobody else can go on; where it shall race, either a
// worker looks at the clock while others run (its look moves the time), or another thread sleeps
// until the same time.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/fiber.hpp"

#include <mutex>

namespace {

using namespace sennit::sched;

// What a lock, a channel, a future is to those who wait: a lock, a list, and something to hand
// over.
struct source {
    sennit::base::spin_lock lock;
    wait_list list;

    // Hands 42 to the one who waits. False: nobody does.
    bool give() {
        claimed one;
        {
            std::lock_guard guard(lock);
            one = claim_first(list);
            if (one) static_cast<sim::var<int>*>(one.entry->data)->set(42);
        }
        end_wait(one);
        return static_cast<bool>(one);
    }
    // The same, but to whoever comes next.
    void give_to_somebody() {
        while (!give()) sennit::sys::cpu_relax();
    }

    wake_reason take(const wait_options& options, sim::var<int>& into, bool sole = false) {
        wait_point point(sole);
        wait_entry entry(point, 0, &into);
        lock.lock();
        enqueue(list, entry);
        const wake_reason why = wait_unlocking(point, lock, options);
        if (sole) return why;
        std::lock_guard guard(lock);
        dequeue(list, entry);
        return why;
    }
};

void check_outcome(wake_reason why, wake_reason otherwise, bool given, const sim::var<int>& got) {
    sim::check(why == (given ? wake_reason::source : otherwise), "the reason is who claimed");
    sim::check(got == (given ? 42 : 0), "what was handed over has arrived, and nothing else");
}

} // namespace

// ---- a plain thread waits

SIM_SCENARIO_WITHIN(wait, one_source_ends_a_threads_wait, .preemptions = 3, .stale_reads = 2) {
    source from;
    sim::var<int> got{0};
    sim::thread giver([&] { from.give_to_somebody(); });
    sim::check(from.take({}, got) == wake_reason::source && got == 42, "it was handed over");
    giver.join();
}

SIM_SCENARIO_WITHIN(wait, a_sole_source_needs_no_claim, .preemptions = 3, .stale_reads = 2) {
    source from;
    sim::var<int> got{0};
    sim::thread giver([&] { from.give_to_somebody(); });
    sim::check(from.take({}, got, true) == wake_reason::source && got == 42, "it was handed over");
    giver.join();
}

// The frame is gone when the giver looks, or the giver is the one.
SIM_SCENARIO_WITHIN(wait, a_claim_meets_a_cancel, .preemptions = 2, .stale_reads = 1) {
    source from;
    cancel_scope scope(nullptr);
    sim::var<int> got{0};
    bool given = false;
    sim::thread giver([&] { given = from.give(); });
    sim::thread canceller([&] { scope.cancel(); });
    wake_reason why;
    {
        in_scope here(scope);
        why = from.take({}, got);
    }
    giver.join();
    canceller.join();
    check_outcome(why, wake_reason::cancelled, given, got);
}

// Who claims without a lock that the waiter takes later (a stop token): the claim alone carries
// what came before it, and who has to wake finds the waiter saved.
SIM_SCENARIO_WITHIN(wait, a_claim_carries_what_came_before_both_ways, .preemptions = 3,
                    .stale_reads = 2) {
    sim::var<int> saved{0}, told{0};
    wait_point point;
    sim::thread claimer([&] {
        told = 42;
        if (claim(point, wake_reason::stopped) != claim_result::wake_it) return;
        sim::check(saved == 7, "who sleeps is saved");
        wake(point);
    });
    saved = 7;
    sim::check(wait(point, nullptr, nullptr) == wake_reason::stopped, "nothing else ends the wait");
    sim::check(told == 42, "what came before the claim is seen");
    claimer.join();
}

// Nobody else is there when the time is up.
SIM_SCENARIO_WITHIN(wait, a_threads_time_runs_out, .preemptions = 2, .stale_reads = 2) {
    source from;
    sim::var<int> got{0};
    bool given = false;
    sim::thread giver([&] { given = from.give(); }); // perhaps before anybody waits
    const wake_reason why = from.take({.deadline_ns = now_ns() + 1000}, got);
    giver.join();
    check_outcome(why, wake_reason::timed_out, given, got);
}

// The thread's time is up, and it claims for itself; the giver sleeps until the same time.
SIM_SCENARIO_WITHIN(wait, a_threads_time_runs_out_while_somebody_gives, .preemptions = 3,
                    .stale_reads = 1) {
    source from;
    sim::var<int> got{0};
    bool given = false;
    const time_point when = soon();
    sim::thread giver([&] {
        sleep_until(when);
        given = from.give();
    });
    const wake_reason why = from.take({.deadline_ns = when.time_since_epoch().count()}, got);
    giver.join();
    check_outcome(why, wake_reason::timed_out, given, got);
}

SIM_SCENARIO_WITHIN(wait, of_two_sources_one_ends_it, .preemptions = 2, .stale_reads = 1) {
    std::array<source, 2> from;
    std::array<bool, 2> given{};
    std::array<sim::var<int>, 2> got;
    wake_reason why;
    {
        wait_point point;
        wait_entry first(point, 0, &got[0]), second(point, 1, &got[1]);
        std::array<wait_entry*, 2> entries{&first, &second};
        for (unsigned i = 0; i < 2; ++i) {
            std::lock_guard guard(from[i].lock);
            enqueue(from[i].list, *entries[i]);
        }
        std::array<std::unique_ptr<sim::thread>, 2> givers;
        for (unsigned i = 0; i < 2; ++i)
            givers[i] = std::make_unique<sim::thread>([&, i] { given[i] = from[i].give(); });
        why = wait(point, nullptr, nullptr);
        for (unsigned i = 0; i < 2; ++i) {
            std::lock_guard guard(from[i].lock);
            dequeue(from[i].list, *entries[i]);
        }
        for (auto& one : givers) one->join();
    }
    sim::check(given[0] != given[1], "one of the two was taken");
    const unsigned winner = given[0] ? 0 : 1;
    sim::check(why == static_cast<wake_reason>(static_cast<unsigned>(wake_reason::source) + winner),
               "the reason says which");
    sim::check(got[winner] == 42 && got[1 - winner] == 0, "what it gave has arrived");
}

SIM_SCENARIO_WITHIN(wait, all_are_woken, .preemptions = 2, .stale_reads = 1) {
    source from;
    std::array<sim::var<int>, 2> got;
    sennit::base::atomic<int> in_list{0};
    sim::thread waker([&] {
        while (in_list.load() != 2) sennit::sys::cpu_relax();
        std::lock_guard guard(from.lock);
        wake_all(from.list);
    });
    sim::in_threads(2, [&](unsigned me) {
        wait_point point;
        wait_entry entry(point, 0, &got[me]);
        from.lock.lock();
        enqueue(from.list, entry);
        in_list.fetch_add(1);
        sim::check(wait_unlocking(point, from.lock) == wake_reason::source, "it was woken");
        std::lock_guard guard(from.lock); // the waker is inside still
    });
    waker.join();
}

// ---- a context waits

// From the moment at which the context is saved and the source's lock is free, it may go on
// elsewhere, or end.
SIM_SCENARIO_WITHIN(wait, one_source_ends_a_contexts_wait, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    source from;
    sim::thread giver([&] { from.give_to_somebody(); });
    one.run([&] {
        auto got = std::make_unique<sim::var<int>>(0);
        sim::check(from.take({}, *got) == wake_reason::source && *got == 42, "it was handed over");
    });
    giver.join();
}

SIM_SCENARIO_WITHIN(wait, a_sole_source_ends_a_contexts_wait, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    source from;
    sim::thread giver([&] { from.give_to_somebody(); });
    one.run([&] {
        auto got = std::make_unique<sim::var<int>>(0);
        sim::check(from.take({}, *got, true) == wake_reason::source && *got == 42,
                   "it was handed over");
    });
    giver.join();
}

// The deadline is over when the wait begins: the worker's look at the clock races with the giver.
SIM_SCENARIO_WITHIN(wait, a_contexts_time_runs_out_while_somebody_gives, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    source from;
    sim::var<int> got{0};
    bool given = false;
    wake_reason why{};
    sim::thread giver([&] { given = from.give(); });
    one.run([&] { why = from.take({.deadline_ns = now_ns()}, got); });
    giver.join();
    check_outcome(why, wake_reason::timed_out, given, got);
}

// Y begins a wait that has ended before; its worker has switched to X already, which blocks the
// thread.
SIM_SCENARIO_WITHIN(wait, who_need_not_wait_is_not_left_behind_another, .preemptions = 2,
                    .stale_reads = 0) {
    engine two(2);
    event y_goes_on;
    two.run([&] {
        sim::calmly([] {}); // who has posted this waits
        yield(); // one pick more, so that Y's switch is not the one that looks outside first
        sennit::fork_join([] {}, [] {}); // wakes the thief
        sennit::sys::cpu_relax();        // which asks for more
        sennit::fork_join([] {}, [] {}); // answers that, so that Y switches to X directly
        sennit::fiber y({.policy = sennit::launch::now}, [&] {
            sennit::sys::cpu_relax(); // the thief comes to the brink of its next sleep
            wait_point point;
            (void)claim(point, wake_reason::source);
            wait(point, nullptr, nullptr);
            y_goes_on.set();
        });
        y_goes_on.wait(); // blocks the thread
        y.join();
    });
}
