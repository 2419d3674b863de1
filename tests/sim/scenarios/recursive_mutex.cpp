// SPDX-License-Identifier: Apache-2.0
// recursive_mutex, recursive_timed_mutex: sennit/mutex.hpp. The owner is read without a lock.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"

#include <mutex>
#include <system_error>

SIM_SCENARIO_WITHIN(recursive_mutex, mutex_is_free_after_equal_number_of_unlocks, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::recursive_mutex lock;
    sim::var<int> count{0};
    sim::in_threads(2, [&](unsigned) {
        std::lock_guard outer(lock);
        {
            std::lock_guard inner(lock);
            count = count + 1;
        }
        count = count + 1; // still inside
    });
    sim::check(count == 4, "both threads have been inside");
}

SIM_SCENARIO_WITHIN(recursive_mutex, try_lock_enters_recursively_or_fails, .preemptions = 3,
                    .stale_reads = 1) {
    sennit::recursive_mutex lock;
    sim::var<int> count{0};
    bool got = false;
    sim::thread other([&] {
        got = lock.try_lock();
        if (!got) return;
        sim::check(lock.try_lock(), "the owner can lock again");
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
    sim::check(count == (got ? 4 : 2), "each admitted thread has counted");
    sim::check(lock.try_lock(), "the mutex is free");
    lock.unlock();
}

// The owner unlocks for the last time when the other thread's deadline passes.
SIM_SCENARIO_WITHIN(recursive_mutex, timed_lock_races_last_unlock, .preemptions = 2,
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
    sim::check(seen == 0 && count == (got ? 1 : 0),
               "the timed lock succeeded after the last unlock, or failed");
    sim::check(lock.try_lock(), "the mutex is free");
    lock.unlock();
}

// A thread that is not the owner reads the owner's word while the ownership changes.
SIM_SCENARIO_WITHIN(recursive_mutex, unlock_by_non_owner_is_refused, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::recursive_mutex lock;
    sim::var<int> count{0};
    sim::thread stranger([&] {
        try {
            lock.unlock();
            sim::check(false, "the unlock was refused");
        } catch (const std::system_error& error) {
            sim::check(error.code() == std::errc::operation_not_permitted,
                       "there is no other error");
        }
    });
    sim::in_threads(2, [&](unsigned) {
        std::lock_guard outer(lock);
        std::lock_guard inner(lock);
        count = count + 1;
    });
    stranger.join();
    sim::check(count == 2, "both threads have been inside");
}

// ---- on workers

SIM_SCENARIO_WITHIN(recursive_mutex, fiber_and_thread_share_mutex, .preemptions = 2,
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
    sim::check(count == 2, "both threads have been inside");
}
