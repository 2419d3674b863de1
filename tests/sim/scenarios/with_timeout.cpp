// SPDX-License-Identifier: Apache-2.0
// with_timeout: sennit/with_timeout.hpp. Time passes only while nobody can go on, so a limit is met
// by what another thread does after it has slept until the same time.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/nursery.hpp"
#include "sennit/semaphore.hpp"
#include "sennit/with_timeout.hpp"

namespace {

// False: the limit has ended it.
template <class F>
bool in_time(time_point when, F&& function) {
    try {
        sennit::with_deadline(when, function);
        return true;
    } catch (const sennit::timed_out&) {
        return false;
    }
}

} // namespace

SIM_SCENARIO_WITHIN(with_timeout, a_token_is_taken_in_time_or_left, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::counting_semaphore<> tokens(0);
    const time_point when = soon();
    sim::thread giver([&] {
        sleep_until(when);
        tokens.release();
    });
    const bool got = in_time(when, [&] { tokens.acquire(); });
    giver.join();
    sim::check(tokens.try_acquire() == !got, "the token is in one place");
}

// The one inside ends with the one outside.
SIM_SCENARIO_WITHIN(with_timeout, the_earlier_of_two_ends_the_wait, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::event never_set;
    const time_point when = soon();
    bool inner = true, outer = true;
    sim::thread other([&] { sleep_until(when); });
    outer = in_time(
        when, [&] { inner = in_time(when + std::chrono::hours(1), [&] { never_set.wait(); }); });
    other.join();
    sim::check(!outer && inner, "it is the outer one whose time is over");
}

// The scope above is cancelled when the limit is over: one of both ends the wait, and it is told as
// what it was.
SIM_SCENARIO_WITHIN(with_timeout, a_limit_meets_a_cancel_from_above, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::sched::cancel_scope scope(nullptr);
    sennit::event never_set;
    const time_point when = soon();
    bool ended = false;
    sim::thread canceller([&] {
        sleep_until(when);
        scope.cancel();
    });
    const bool by_the_limit =
        not_cancelled(scope, [&] { ended = !in_time(when, [&] { never_set.wait(); }); });
    canceller.join();
    sim::check(!by_the_limit || ended, "the wait was ended");
}

// The children's waits end with it, too.
SIM_SCENARIO_WITHIN(with_timeout, ends_the_children_of_a_nursery_inside, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    const time_point when = soon();
    bool went_on = false;
    const bool ended = !in_time(when, [&] {
        sennit::event never_set;
        sennit::nursery family;
        family.start({.runtime = &*one}, [&] {
            never_set.wait();
            went_on = true;
        });
        family.join();
    });
    sim::check(ended && !went_on, "both waits have thrown");
}

SIM_SCENARIO_WITHIN(with_timeout, of_a_fiber_meets_a_thread_that_ends_its_wait, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    sennit::event gate;
    const time_point when = soon();
    bool got = false;
    sennit::fiber strand({.runtime = &*one}, [&] { got = in_time(when, [&] { gate.wait(); }); });
    sleep_until(when);
    gate.set();
    strand.join();
    sim::check(gate.try_wait(), "it stays set"); // `got` may be either
}
