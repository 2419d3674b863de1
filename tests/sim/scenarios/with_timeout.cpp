// SPDX-License-Identifier: Apache-2.0
// with_timeout: sennit/with_timeout.hpp. Time passes only while no thread can continue. So a limit
// races the next step of another thread that has slept until the same time.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/nursery.hpp"
#include "sennit/semaphore.hpp"
#include "sennit/with_timeout.hpp"

namespace {

// False: the limit has ended the call.
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

SIM_SCENARIO_WITHIN(with_timeout, token_is_taken_in_time_or_left, .preemptions = 3,
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

// The inner limit ends with the outer one.
SIM_SCENARIO_WITHIN(with_timeout, earlier_limit_ends_wait, .preemptions = 3, .stale_reads = 1) {
    sennit::event never_set;
    const time_point when = soon();
    bool inner = true, outer = true;
    sim::thread other([&] { sleep_until(when); });
    outer = in_time(
        when, [&] { inner = in_time(when + std::chrono::hours(1), [&] { never_set.wait(); }); });
    other.join();
    sim::check(!outer && inner, "the outer limit has expired");
}

// The enclosing scope is cancelled when the limit expires: one of the two ends the wait, and the
// result names the one that did.
SIM_SCENARIO_WITHIN(with_timeout, limit_races_cancel_from_above, .preemptions = 2,
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

// The waits of the children end with the limit, too.
SIM_SCENARIO_WITHIN(with_timeout, limit_ends_children_of_inner_nursery, .preemptions = 2,
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

SIM_SCENARIO_WITHIN(with_timeout, limit_of_fiber_races_thread_that_ends_wait, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    sennit::event gate;
    const time_point when = soon();
    bool got = false;
    sennit::fiber strand({.runtime = &*one}, [&] { got = in_time(when, [&] { gate.wait(); }); });
    sleep_until(when);
    gate.set();
    strand.join();
    sim::check(gate.try_wait(), "the event stays set"); // `got` may be either
}
