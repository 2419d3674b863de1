// SPDX-License-Identifier: Apache-2.0
// Waits with more than one end: sennit/detail/core/wait.hpp, src/core/wait/wait.cpp.
//
// A deadline passes in the explorer only while no thread can continue. Where a deadline must race,
// either a worker reads the clock while other threads run (the read advances the time), or another
// thread sleeps until the same time.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/fiber.hpp"

#include <mutex>

namespace {

using namespace sennit::sched;

// A minimal source, as a lock, a channel or a future is to its waiters: a lock, a list, and a value
// to transfer.
struct source {
    sennit::base::spin_lock lock;
    wait_list list;

    // Transfers 42 to the waiter. False: there is no waiter.
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
    // Transfers 42 to the next waiter, and waits for one if there is none.
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
    sim::check(why == (given ? wake_reason::source : otherwise), "the reason names the claimant");
    sim::check(got == (given ? 42 : 0), "the transferred value has arrived, and no other");
}

} // namespace

// ---- a plain thread waits

SIM_SCENARIO_WITHIN(wait, one_source_ends_wait_of_thread, .preemptions = 3, .stale_reads = 2) {
    source from;
    sim::var<int> got{0};
    sim::thread giver([&] { from.give_to_somebody(); });
    sim::check(from.take({}, got) == wake_reason::source && got == 42, "the value was transferred");
    giver.join();
}

SIM_SCENARIO_WITHIN(wait, sole_source_needs_no_claim, .preemptions = 3, .stale_reads = 2) {
    source from;
    sim::var<int> got{0};
    sim::thread giver([&] { from.give_to_somebody(); });
    sim::check(from.take({}, got, true) == wake_reason::source && got == 42,
               "the value was transferred");
    giver.join();
}

// The frame is gone when the giver looks, or the giver wins the claim.
SIM_SCENARIO_WITHIN(wait, claim_races_cancel, .preemptions = 2, .stale_reads = 1) {
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

// A thread claims without a lock that the waiter takes later (a stop token). The claim alone
// publishes the writes before it, and a claimant that must wake finds the waiter saved.
SIM_SCENARIO_WITHIN(wait, claim_publishes_earlier_writes_both_ways, .preemptions = 3,
                    .stale_reads = 2) {
    sim::var<int> saved{0}, told{0};
    wait_point point;
    sim::thread claimer([&] {
        told = 42;
        if (claim(point, wake_reason::stopped) != claim_result::wake_it) return;
        sim::check(saved == 7, "a sleeping waiter is saved");
        wake(point);
    });
    saved = 7;
    sim::check(wait(point, nullptr, nullptr) == wake_reason::stopped, "nothing else ends the wait");
    sim::check(told == 42, "the write before the claim is visible");
    claimer.join();
}

// No other thread is there when the deadline passes.
SIM_SCENARIO_WITHIN(wait, wait_of_thread_times_out, .preemptions = 2, .stale_reads = 2) {
    source from;
    sim::var<int> got{0};
    bool given = false;
    // The giver may come before the waiter.
    sim::thread giver([&] { given = from.give(); });
    const wake_reason why = from.take({.deadline_ns = now_ns() + 1000}, got);
    giver.join();
    check_outcome(why, wake_reason::timed_out, given, got);
}

// The thread's deadline passes, and the thread claims its own wait; the giver sleeps until the same
// time.
SIM_SCENARIO_WITHIN(wait, timeout_of_thread_races_source, .preemptions = 3, .stale_reads = 1) {
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

SIM_SCENARIO_WITHIN(wait, one_of_two_sources_ends_wait, .preemptions = 2, .stale_reads = 1) {
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
    sim::check(given[0] != given[1], "one of the two sources ended the wait");
    const unsigned winner = given[0] ? 0 : 1;
    sim::check(why == static_cast<wake_reason>(static_cast<unsigned>(wake_reason::source) + winner),
               "the reason names the source");
    sim::check(got[winner] == 42 && got[1 - winner] == 0, "the value of that source has arrived");
}

SIM_SCENARIO_WITHIN(wait, wake_all_wakes_all_waiters, .preemptions = 2, .stale_reads = 1) {
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
        sim::check(wait_unlocking(point, from.lock) == wake_reason::source, "the waiter was woken");
        std::lock_guard guard(from.lock); // the waker is still inside
    });
    waker.join();
}

// ---- a context waits

// From the moment at which the context is saved and the source's lock is free, the context may
// continue on another worker, or end.
SIM_SCENARIO_WITHIN(wait, one_source_ends_wait_of_context, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    source from;
    sim::thread giver([&] { from.give_to_somebody(); });
    one.run([&] {
        auto got = std::make_unique<sim::var<int>>(0);
        sim::check(from.take({}, *got) == wake_reason::source && *got == 42,
                   "the value was transferred");
    });
    giver.join();
}

SIM_SCENARIO_WITHIN(wait, sole_source_ends_wait_of_context, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    source from;
    sim::thread giver([&] { from.give_to_somebody(); });
    one.run([&] {
        auto got = std::make_unique<sim::var<int>>(0);
        sim::check(from.take({}, *got, true) == wake_reason::source && *got == 42,
                   "the value was transferred");
    });
    giver.join();
}

// The deadline has passed when the wait begins: the worker's clock read races the giver.
SIM_SCENARIO_WITHIN(wait, timeout_of_context_races_source, .preemptions = 2, .stale_reads = 1) {
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

// Y begins a wait that has already ended. Its worker has already switched to X, which blocks the
// thread.
SIM_SCENARIO_WITHIN(wait, context_with_ended_wait_is_not_left_behind_another, .preemptions = 2,
                    .stale_reads = 0) {
    engine two(2);
    event y_goes_on;
    two.run([&] {
        sim::calmly([] {}); // waits until the poster has finished
        // One task more, so that Y's switch does not make the first global poll.
        yield();
        sennit::fork_join([] {}, [] {}); // wakes the thief
        sennit::sys::cpu_relax();        // the thief requests more work
        sennit::fork_join([] {}, [] {}); // answers the request, so that Y switches to X directly
        sennit::fiber y({.policy = sennit::launch::now}, [&] {
            sennit::sys::cpu_relax(); // the thief is about to sleep again
            wait_point point;
            (void)claim(point, wake_reason::source);
            wait(point, nullptr, nullptr);
            y_goes_on.set();
        });
        y_goes_on.wait(); // blocks the thread
        y.join();
    });
}
