// SPDX-License-Identifier: Apache-2.0
// mutex, timed_mutex: sennit/mutex.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"

#include <memory>
#include <mutex>

SIM_SCENARIO_WITHIN(mutex, lets_one_in_at_a_time, .preemptions = 2, .stale_reads = 2) {
    sennit::mutex lock;
    sim::var<int> count{0};
    sim::in_threads(2, [&](unsigned) {
        for (int i = 0; i < 2; ++i) {
            std::lock_guard guard(lock);
            count = count + 1;
        }
    });
    sim::check(count == 4, "all have been in");
}

SIM_SCENARIO_WITHIN(mutex, three_want_it_at_once, .preemptions = 2, .stale_reads = 1) {
    sennit::mutex lock;
    sim::var<int> count{0};
    sim::in_threads(3, [&](unsigned) {
        std::lock_guard guard(lock);
        count = count + 1;
    });
    sim::check(count == 3, "all have been in");
}

// Who was woken finds what was done by who went before it, and left while it was on the way.
SIM_SCENARIO_WITHIN(mutex, an_owner_comes_back_before_who_was_woken, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::mutex lock;
    sim::var<int> count{0};
    lock.lock();
    sim::thread other([&] {
        std::lock_guard guard(lock);
        count = count + 1;
    });
    sleep_until(soon()); // it waits
    lock.unlock();
    {
        std::lock_guard guard(lock);
        count = count + 1;
    }
    other.join();
    sim::check(count == 2, "both have been in");
}

SIM_SCENARIO_WITHIN(mutex, who_only_tries_goes_in_or_away, .preemptions = 3, .stale_reads = 1) {
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
    sim::check(count == (got ? 2 : 1), "who was let in has counted");
    sim::check(lock.try_lock(), "it is free");
    lock.unlock();
}

SIM_SCENARIO_WITHIN(mutex, a_timed_lock_may_find_it_free, .preemptions = 3, .stale_reads = 1) {
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
    sim::check(count == 2, "nobody has it for long");
}

SIM_SCENARIO_WITHIN(mutex, a_timed_lock_meets_the_unlock, .preemptions = 2, .stale_reads = 1) {
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
    sim::check(count == (got ? 2 : 1), "who was let in has counted");
    sim::check(lock.try_lock(), "it is free");
    lock.unlock();
}

// The unlock may choose the one that gives up; the other must not sleep on.
SIM_SCENARIO_WITHIN(mutex, an_unlock_that_meets_a_timeout_wakes_another, .preemptions = 2,
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
    sim::check(count >= 2, "the patient one has been in");
}

// Who was woken, lost, and has waited for a millisecond gets it before whoever comes.
SIM_SCENARIO_WITHIN(mutex, who_has_lost_for_long_is_handed_it, .preemptions = 2, .stale_reads = 1) {
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
        if (was_first &&
            lock.try_lock()) { // perhaps it came in between and has slept for the first time now
            const bool lost_again = been_in == 0;
            sleep_until(third);
            lock.unlock();
            if (lost_again && lock.try_lock()) {
                sim::check(been_in == 1, "it was handed over");
                lock.unlock();
            }
        }
    }
    loser.join();
}

// Of two that wait one is handed it; the other is woken by the unlock after that.
SIM_SCENARIO_WITHIN(mutex, who_is_handed_it_wakes_the_next, .preemptions = 2, .stale_reads = 0) {
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
    if (lock.try_lock()) { // who was woken has lost
        sleep_until(second);
        lock.unlock();
    }
    one.join();
    two.join();
    sim::check(count == 2, "both have been in");
}

// Who knows that it is the last destroys it, while the unlock of the one before may be on its way
// out.
SIM_SCENARIO_WITHIN(mutex, the_last_owner_destroys_it, .preemptions = 2, .stale_reads = 1) {
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

SIM_SCENARIO_WITHIN(mutex, a_fiber_and_a_thread_share_it, .preemptions = 2, .stale_reads = 0) {
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
    sim::check(count == 2, "both have been in");
}
