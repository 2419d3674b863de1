// SPDX-License-Identifier: Apache-2.0
// mutex, timed_mutex: sennit/mutex.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"

#include <memory>
#include <mutex>

SIM_SCENARIO_WITHIN(mutex, mutex_admits_one_thread_at_a_time, .preemptions = 2, .stale_reads = 2) {
    sennit::mutex lock;
    sim::var<int> count{0};
    sim::in_threads(2, [&](unsigned) {
        for (int i = 0; i < 2; ++i) {
            std::lock_guard guard(lock);
            count = count + 1;
        }
    });
    sim::check(count == 4, "all threads have been inside");
}

SIM_SCENARIO_WITHIN(mutex, three_threads_contend, .preemptions = 2, .stale_reads = 1) {
    sennit::mutex lock;
    sim::var<int> count{0};
    sim::in_threads(3, [&](unsigned) {
        std::lock_guard guard(lock);
        count = count + 1;
    });
    sim::check(count == 3, "all threads have been inside");
}

// A woken waiter sees the writes of the previous owner, which came and left while the waiter was on
// its way.
SIM_SCENARIO_WITHIN(mutex, owner_returns_before_woken_waiter, .preemptions = 2, .stale_reads = 1) {
    sennit::mutex lock;
    sim::var<int> count{0};
    lock.lock();
    sim::thread other([&] {
        std::lock_guard guard(lock);
        count = count + 1;
    });
    sleep_until(soon()); // the other thread waits
    lock.unlock();
    {
        std::lock_guard guard(lock);
        count = count + 1;
    }
    other.join();
    sim::check(count == 2, "both threads have been inside");
}

SIM_SCENARIO_WITHIN(mutex, try_lock_enters_or_fails, .preemptions = 3, .stale_reads = 1) {
    sennit::mutex lock;
    sim::var<int> count{0};
    bool got = false;
    sim::thread other([&] {
        got = lock.try_lock();
        if (!got) return;
        count = count + 1;
        lock.unlock();
    });
    {
        std::lock_guard guard(lock);
        count = count + 1;
    }
    other.join();
    sim::check(count == (got ? 2 : 1), "each admitted thread has counted");
    sim::check(lock.try_lock(), "the mutex is free");
    lock.unlock();
}

SIM_SCENARIO_WITHIN(mutex, timed_lock_may_find_mutex_free, .preemptions = 3, .stale_reads = 1) {
    sennit::timed_mutex lock;
    sim::var<int> count{0};
    const time_point when = soon();
    sim::thread other([&] {
        if (!lock.try_lock_until(when)) return;
        count = count + 1;
        lock.unlock();
    });
    {
        std::lock_guard guard(lock);
        count = count + 1;
    }
    other.join();
    sim::check(count == 2, "the timed lock succeeds, because no thread keeps the mutex for long");
}

SIM_SCENARIO_WITHIN(mutex, timed_lock_races_unlock, .preemptions = 2, .stale_reads = 1) {
    sennit::timed_mutex lock;
    sim::var<int> count{0};
    const time_point when = soon();
    bool got = false;
    lock.lock();
    sim::thread other([&] {
        got = lock.try_lock_until(when);
        if (!got) return;
        count = count + 1;
        lock.unlock();
    });
    sleep_until(when);
    count = count + 1;
    lock.unlock();
    other.join();
    sim::check(count == (got ? 2 : 1), "each admitted thread has counted");
    sim::check(lock.try_lock(), "the mutex is free");
    lock.unlock();
}

// The unlock may choose the waiter that times out; the other waiter must not sleep on.
SIM_SCENARIO_WITHIN(mutex, unlock_that_races_timeout_wakes_other_waiter, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::timed_mutex lock;
    sim::var<int> count{0};
    const time_point when = soon();
    lock.lock();
    sim::thread impatient([&] {
        if (!lock.try_lock_until(when)) return;
        count = count + 1;
        lock.unlock();
    });
    sim::thread patient([&] {
        std::lock_guard guard(lock);
        count = count + 1;
    });
    sleep_until(when);
    count = count + 1;
    lock.unlock();
    impatient.join();
    patient.join();
    sim::check(count >= 2, "the waiter without a deadline has been inside");
}

// A waiter that was woken, lost the mutex, and has waited for a millisecond receives the mutex
// before any newcomer.
SIM_SCENARIO_WITHIN(mutex, starved_waiter_receives_mutex, .preemptions = 2, .stale_reads = 1) {
    sennit::mutex lock;
    sim::var<int> been_in{0};
    const time_point first = soon(), second = first + std::chrono::milliseconds(2),
                     third = second + std::chrono::milliseconds(2);
    lock.lock();
    sim::thread loser([&] {
        std::lock_guard guard(lock);
        been_in = 1;
    });
    sleep_until(first);
    lock.unlock();
    if (lock.try_lock()) {
        const bool was_first = been_in == 0;
        sleep_until(second);
        lock.unlock();
        // The waiter may have come in between, and may now sleep for the first time.
        if (was_first && lock.try_lock()) {
            const bool lost_again = been_in == 0;
            sleep_until(third);
            lock.unlock();
            if (lost_again && lock.try_lock()) {
                sim::check(been_in == 1, "the mutex was handed over");
                lock.unlock();
            }
        }
    }
    loser.join();
}

// The mutex is handed to one of two waiters; the next unlock wakes the other.
SIM_SCENARIO_WITHIN(mutex, waiter_that_receives_mutex_wakes_next, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::mutex lock;
    sim::var<int> count{0};
    const time_point first = soon() + std::chrono::milliseconds(2),
                     second = first + std::chrono::milliseconds(2);
    const auto wait_for_it = [&] {
        std::lock_guard guard(lock);
        count = count + 1;
    };
    lock.lock();
    sim::thread one(wait_for_it);
    sim::thread two(wait_for_it);
    sleep_until(first);
    lock.unlock();
    if (lock.try_lock()) { // the woken waiter has lost
        sleep_until(second);
        lock.unlock();
    }
    one.join();
    two.join();
    sim::check(count == 2, "both threads have been inside");
}

// The last owner destroys the mutex, while the previous owner's unlock may not have returned yet.
SIM_SCENARIO_WITHIN(mutex, last_owner_destroys_mutex, .preemptions = 2, .stale_reads = 1) {
    auto lock = std::make_unique<sennit::mutex>();
    int left = 2;
    sim::in_threads(2, [&](unsigned) {
        lock->lock();
        const bool last = --left == 0;
        lock->unlock();
        if (last) lock.reset();
    });
}

// ---- on workers

SIM_SCENARIO_WITHIN(mutex, fiber_and_thread_share_mutex, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    sennit::mutex lock;
    sim::var<int> count{0};
    sennit::fiber strand({.runtime = &*one}, [&] {
        std::lock_guard guard(lock);
        count = count + 1;
    });
    {
        std::lock_guard guard(lock);
        count = count + 1;
    }
    strand.join();
    sim::check(count == 2, "both threads have been inside");
}
