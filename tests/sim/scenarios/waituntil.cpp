// SPDX-License-Identifier: Apache-2.0
// waituntil: sennit/waituntil.hpp, src/channel/waituntil.cpp; and the cases over locks:
// sennit/on_lock.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/channel.hpp"
#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"
#include "sennit/on_lock.hpp"
#include "sennit/waituntil.hpp"

#include <mutex>

SIM_SCENARIO_WITHIN(waituntil, unlock_races_clause_on_mutex, .preemptions = 2, .stale_reads = 1) {
    sennit::mutex lock;
    sim::var<int> count{0};
    sim::thread chooser([&] { sennit::select(sennit::on_lock(lock, [&] { count = count + 1; })); });
    {
        std::lock_guard guard(lock);
        count = count + 1;
    }
    chooser.join();
    sim::check(count == 2, "both threads have been inside");
    sim::check(lock.try_lock(), "the mutex is free again");
    lock.unlock();
}

SIM_SCENARIO_WITHIN(waituntil, two_clauses_and_lock_contend_for_mutex, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::mutex lock;
    sim::var<int> count{0};
    sim::in_threads(3, [&](unsigned me) {
        if (me == 0) {
            std::lock_guard guard(lock);
            count = count + 1;
        } else {
            sennit::select(sennit::on_lock(lock, [&] { count = count + 1; }));
        }
    });
    sim::check(count == 3, "all threads have been inside");
}

// The transfer of a mutex races the deadline of the wait for it.
SIM_SCENARIO_WITHIN(waituntil, unlock_races_deadline, .preemptions = 2, .stale_reads = 1) {
    sennit::mutex lock;
    sim::var<int> count{0};
    const time_point when = soon();
    bool got = false;
    lock.lock();
    sim::thread chooser([&] {
        got = sennit::select(sennit::on_lock(lock, [&] { count = count + 1; }),
                             sennit::at(when, [] {})) == 0;
    });
    sleep_until(when);
    count = count + 1;
    lock.unlock();
    chooser.join();
    sim::check(count == (got ? 2 : 1),
               "the waiter has been inside if and only if it got the mutex");
    sim::check(lock.try_lock(), "the mutex is free in either case");
    lock.unlock();
}

SIM_SCENARIO_WITHIN(waituntil, token_races_deadline, .preemptions = 2, .stale_reads = 1) {
    sennit::counting_semaphore<> tokens(0);
    const time_point when = soon();
    bool got = false;
    sim::thread chooser([&] {
        got = sennit::select(sennit::on_acquire(tokens, [] {}), sennit::at(when, [] {})) == 0;
    });
    sleep_until(when);
    tokens.release();
    chooser.join();
    sim::check(tokens.try_acquire() != got, "the token was taken, or is available");
}

SIM_SCENARIO_WITHIN(waituntil, both_events_or_one_and_deadline_end_wait, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::channel<int> a(1);
    sennit::event b(sennit::event::mode::auto_reset);
    const time_point when = soon();
    sim::thread sender([&] {
        (void)a.push(7);
        sleep_until(when);
        b.set();
    });
    int got = 0;
    const auto how = sennit::waituntil(
        (sennit::on_pop(a, [&](int value) { got = value; }) and sennit::on_set(b, [] {})) or
        sennit::at(when, [] {}));
    sender.join();
    sim::check(static_cast<bool>(how), "the condition holds");
    sim::check(how.happened(0) == (got == 7) && how.happened(0) != (a.size() == 1),
               "the value was taken, or is in the channel");
    sim::check(how.happened(1) != b.try_wait(), "the event was consumed, or is set");
    sim::check((how.happened(0) && how.happened(1)) != how.happened(2),
               "exactly one alternative of the condition holds");
}
