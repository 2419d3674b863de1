// SPDX-License-Identifier: Apache-2.0
// counting_semaphore, binary_semaphore: sennit/semaphore.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/semaphore.hpp"

#include <memory>

SIM_SCENARIO_WITHIN(semaphore, release_publishes_earlier_writes, .preemptions = 3,
                    .stale_reads = 2) {
    sennit::counting_semaphore<> tokens(0);
    sim::var<int> data{0};
    sim::thread other([&] {
        data = 1;
        tokens.release();
    });
    tokens.acquire();
    sim::check(data == 1, "the write before the release is visible");
    other.join();
}

SIM_SCENARIO_WITHIN(semaphore, one_token_admits_one_thread_at_a_time, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::binary_semaphore token(1);
    sim::var<int> count{0};
    sim::in_threads(3, [&](unsigned) {
        token.acquire();
        count = count + 1;
        token.release();
    });
    sim::check(count == 3, "all threads have been inside");
}

SIM_SCENARIO_WITHIN(semaphore, two_tokens_wake_two_waiters, .preemptions = 2, .stale_reads = 1) {
    sennit::counting_semaphore<> tokens(0);
    sim::thread first([&] { tokens.acquire(); });
    sim::thread second([&] { tokens.acquire(); });
    tokens.release(2);
    first.join();
    second.join();
    sim::check(!tokens.try_acquire(), "no token is left");
}

SIM_SCENARIO_WITHIN(semaphore, timed_acquire_races_release, .preemptions = 3, .stale_reads = 1) {
    sennit::counting_semaphore<> tokens(0);
    const time_point when = soon();
    bool got = false;
    sim::thread other([&] { got = tokens.try_acquire_until(when); });
    sleep_until(when);
    tokens.release();
    other.join();
    sim::check(tokens.try_acquire() == !got, "the token was taken, or is available");
}

SIM_SCENARIO_WITHIN(semaphore, cancelled_acquire_loses_no_token, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::counting_semaphore<> tokens(0);
    sennit::sched::cancel_scope scope(nullptr);
    bool got = false;
    sim::thread other([&] { got = not_cancelled(scope, [&] { tokens.acquire(); }); });
    sim::thread canceller([&] { scope.cancel(); });
    tokens.release();
    other.join();
    canceller.join();
    sim::check(tokens.try_acquire() == !got, "the token was taken, or is available");
}

// A token that is released while a thread waits belongs to that waiter, even if another thread
// tries to acquire.
SIM_SCENARIO_WITHIN(semaphore, try_acquire_takes_no_waiters_token, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::counting_semaphore<> tokens(0);
    const time_point when = soon();
    sim::thread waiter([&] { tokens.acquire(); });
    sleep_until(when); // the other thread waits now
    tokens.release();
    sim::check(!tokens.try_acquire(), "the token belongs to the waiter");
    waiter.join();
}

SIM_SCENARIO_WITHIN(semaphore, semaphore_may_be_destroyed_after_last_acquire, .preemptions = 3,
                    .stale_reads = 1) {
    auto token = std::make_unique<sennit::binary_semaphore>(0);
    sim::thread other([&] { token->release(); });
    token->acquire();
    token.reset();
    other.join();
}

// ---- on workers

SIM_SCENARIO_WITHIN(semaphore, fiber_waits_for_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::binary_semaphore token(0);
    sim::var<int> data{0};
    sennit::fiber strand({.runtime = &*one}, [&] {
        token.acquire();
        sim::check(data == 1, "the write before the release is visible");
    });
    data = 1;
    token.release();
    strand.join();
}
