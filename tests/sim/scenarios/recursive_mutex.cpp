// SPDX-License-Identifier: Apache-2.0
// recursive_mutex, recursive_timed_mutex: sennit/mutex.hpp. Who owns it is asked without a lock.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"

#include <mutex>
#include <system_error>

SIM_SCENARIO_WITHIN(recursive_mutex, is_free_after_as_many_unlocks, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::recursive_mutex lock;
    sim::var<int> count{0};
    sim::in_threads(2, [&](unsigned) {
        std::lock_guard outer(lock);
        {
            std::lock_guard inner(lock);
            count = count + 1;
        }
        count = count + 1; // inside still
    });
    sim::check(count == 4, "both have been in");
}

SIM_SCENARIO_WITHIN(recursive_mutex, who_only_tries_goes_in_as_often_or_away, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::recursive_mutex lock;
    sim::var<int> count{0};
    bool got = false;
    sim::thread other([&] {
        got = lock.try_lock();
        if (!got) return;
        sim::check(lock.try_lock(), "it is its own");
        count = count + 1;
        lock.unlock();
        count = count + 1;
        lock.unlock();
    });
    {
        std::lock_guard guard(lock);
        count = count + 2;
    }
    other.join();
    sim::check(count == (got ? 4 : 2), "who was let in has counted");
    sim::check(lock.try_lock(), "it is free");
    lock.unlock();
}

// The owner unlocks for the last time when the other's time is over.
SIM_SCENARIO_WITHIN(recursive_mutex, a_timed_lock_meets_the_last_unlock, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::recursive_timed_mutex lock;
    sim::var<int> count{0};
    const time_point when = soon();
    bool got = false;
    lock.lock();
    lock.lock();
    sim::thread other([&] {
        got = lock.try_lock_until(when);
        if (!got) return;
        count = count + 1;
        lock.unlock();
    });
    lock.unlock();
    sleep_until(when);
    const int seen = count;
    lock.unlock();
    other.join();
    sim::check(seen == 0 && count == (got ? 1 : 0), "it was let in after the last unlock, or not");
    sim::check(lock.try_lock(), "it is free");
    lock.unlock();
}

// The owner's word is read by somebody to whom it does not belong, while it changes hands.
SIM_SCENARIO_WITHIN(recursive_mutex, an_unlock_by_another_is_refused_whoever_owns_it,
                    .preemptions = 2, .stale_reads = 1) {
    sennit::recursive_mutex lock;
    sim::var<int> count{0};
    sim::thread stranger([&] {
        try {
            lock.unlock();
            sim::check(false, "it was refused");
        } catch (const std::system_error& error) {
            sim::check(error.code() == std::errc::operation_not_permitted, "nothing else is wrong");
        }
    });
    sim::in_threads(2, [&](unsigned) {
        std::lock_guard outer(lock);
        std::lock_guard inner(lock);
        count = count + 1;
    });
    stranger.join();
    sim::check(count == 2, "both have been in");
}

// ---- on workers

SIM_SCENARIO_WITHIN(recursive_mutex, a_fiber_and_a_thread_share_it, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    sennit::recursive_mutex lock;
    sim::var<int> count{0};
    const auto twice = [&] {
        std::lock_guard outer(lock);
        std::lock_guard inner(lock);
        count = count + 1;
    };
    sennit::fiber strand({.runtime = &*one}, twice);
    twice();
    strand.join();
    sim::check(count == 2, "both have been in");
}
