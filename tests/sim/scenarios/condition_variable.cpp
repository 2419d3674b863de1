// SPDX-License-Identifier: Apache-2.0
// condition_variable, condition_variable_any: sennit/condition_variable.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/condition_variable.hpp"
#include "sennit/fiber.hpp"

#include <array>
#include <memory>
#include <mutex>

namespace {

using guard = std::unique_lock<sennit::mutex>;

struct condition {
    sennit::mutex lock;
    sennit::condition_variable changed;
    sim::var<int> value{0};

    void set(int to) {
        guard inside(lock);
        value = to;
    }
    void wait_for(int wanted) {
        guard inside(lock);
        changed.wait(inside, [&] { return value == wanted; });
    }
};

} // namespace

SIM_SCENARIO_WITHIN(condition_variable, change_is_not_missed, .preemptions = 2, .stale_reads = 2) {
    condition one;
    sim::thread other([&] {
        one.set(1);
        one.changed.notify_one(); // outside the lock
    });
    one.wait_for(1);
    other.join();
}

SIM_SCENARIO_WITHIN(condition_variable, notify_all_wakes_all_waiters, .preemptions = 2,
                    .stale_reads = 0) {
    condition one;
    sim::thread first([&] { one.wait_for(1); });
    sim::thread second([&] { one.wait_for(1); });
    one.set(1);
    one.changed.notify_all();
    first.join();
    second.join();
}

// The object is destroyed as soon as its waiters have been notified; they need it no more.
SIM_SCENARIO_WITHIN(condition_variable, destructor_may_follow_notify_all, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::mutex lock;
    auto changed = std::make_unique<sennit::condition_variable>();
    bool waits = false, set = false;
    sim::thread waiter([&] {
        guard inside(lock);
        waits = true;
        if (!set) changed->wait(inside);
    });
    {
        guard inside(lock);
        set = true;
        if (waits) changed->notify_all();
        changed.reset();
    }
    waiter.join();
}

// One of two waiters has a deadline, which comes together with the notification. Either that waiter
// takes the notification, or the other waiter is notified.
SIM_SCENARIO_WITHIN(condition_variable, notification_races_timeout, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::mutex lock;
    sennit::condition_variable changed;
    const time_point when = soon();
    bool taken = false, told = false;
    sim::thread impatient([&] {
        guard inside(lock);
        taken = changed.wait_until(inside, when) == sennit::cv_status::no_timeout;
    });
    sim::thread patient([&] {
        guard inside(lock);
        changed.wait(inside);
        told = true;
    });
    sleep_until(when);
    {
        guard inside(lock);
        changed.notify_one();
    }
    impatient.join();
    if (taken) {
        {
            guard inside(lock);
            sim::check(!told, "one notification ends one wait");
        }
        changed.notify_one();
    }
    patient.join(); // blocks forever if the notification was lost
}

SIM_SCENARIO_WITHIN(condition_variable, cancelled_wait_loses_no_notification, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::mutex lock;
    sennit::condition_variable changed;
    sennit::sched::cancel_scope scope(nullptr);
    const time_point when = soon();
    bool taken = false;
    sim::thread cancelled([&] {
        in_scope here(scope);
        guard inside(lock);
        try {
            changed.wait(inside);
            taken = true;
        } catch (const sennit::cancelled&) {
            sim::check(inside.owns_lock() && !lock.try_lock(),
                       "the lock is held again, however the wait ends");
        }
    });
    sim::thread other([&] {
        guard inside(lock);
        changed.wait(inside);
    });
    sim::thread canceller([&] {
        sleep_until(when);
        scope.cancel();
    });
    sleep_until(when);
    {
        guard seen(lock);
        // Through the lock, and not only through the time, the thread knows that both wait.
    }
    changed.notify_one();
    cancelled.join();
    if (taken) changed.notify_one();
    other.join();
    canceller.join();
}

// condition_variable_any works with a lock of any kind.
SIM_SCENARIO_WITHIN(condition_variable, any_lock_is_accepted, .preemptions = 2, .stale_reads = 1) {
    sennit::base::spin_lock lock;
    sennit::condition_variable_any changed;
    sim::var<int> value{0};
    sim::thread other([&] {
        std::lock_guard inside(lock);
        value = 1;
        changed.notify_one();
    });
    {
        std::lock_guard inside(lock);
        changed.wait(lock, [&] { return value == 1; });
    }
    other.join();
}

// The user's lock and the list's lock are taken one after the other: no notification is lost
// between them.
SIM_SCENARIO_WITHIN(condition_variable, any_lock_notify_all_wakes_all_waiters, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::base::spin_lock lock;
    sennit::condition_variable_any changed;
    sim::var<int> value{0};
    const auto wait = [&] {
        std::lock_guard inside(lock);
        changed.wait(lock, [&] { return value == 1; });
    };
    sim::thread first(wait), second(wait);
    {
        std::lock_guard inside(lock);
        value = 1;
    }
    changed.notify_all(); // outside the lock
    first.join();
    second.join();
}

SIM_SCENARIO_WITHIN(condition_variable, any_lock_notification_races_timeout, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::base::spin_lock lock;
    sennit::condition_variable_any changed;
    sim::var<int> value{0};
    const time_point when = soon();
    sim::thread waiter([&] {
        std::lock_guard inside(lock);
        (void)changed.wait_until(lock, when, [&] { return value == 1; });
        value = 2; // the lock is held again
    });
    sleep_until(when);
    {
        std::lock_guard inside(lock);
        if (value == 0) value = 1;
    }
    changed.notify_one();
    waiter.join();
    sim::check(value == 2, "the waiter continued, whichever event came first");
    sim::check(lock.try_lock(), "the lock is free");
    lock.unlock();
}

SIM_SCENARIO_WITHIN(condition_variable, any_lock_is_reacquired_after_cancel, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::base::spin_lock lock;
    sennit::condition_variable_any changed;
    sennit::sched::cancel_scope scope(nullptr);
    sim::var<int> value{0};
    sim::thread canceller([&] { scope.cancel(); });
    const bool went_on = not_cancelled(scope, [&] {
        std::lock_guard inside(lock);
        try {
            changed.wait(lock);
        } catch (const sennit::cancelled&) {
            value = value + 1; // still under the lock
            throw;
        }
    });
    canceller.join();
    sim::check(!went_on && value == 1 && lock.try_lock(),
               "nothing else ends the wait, and the lock is given back");
    lock.unlock();
}

// ---- on workers

SIM_SCENARIO_WITHIN(condition_variable, fiber_waits_for_thread, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    condition shared;
    sennit::fiber strand({.runtime = &*one}, [&] { shared.wait_for(1); });
    shared.set(1);
    shared.changed.notify_one();
    strand.join();
}
