// SPDX-License-Identifier: Apache-2.0
// The users of single-thread mode: locks, wait points and monitors that elide their locked
// instructions while one thread works with the library (sennit/detail/sys/single_threaded.hpp), and
// the moment at which a second thread appears. `single_threaded.cpp` explores the protocol itself.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/channel.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/fiber.hpp"
#include "sennit/monitor.hpp"
#include "sennit/mutex.hpp"
#include "sennit/this_fiber.hpp"

#include <mutex>

namespace {

bool is_exclusive() {
    const sennit::base::thread_registration* const me = sennit::base::own_registration();
    return me && me->key.load() == sennit::base::thread_registration::exclusive;
}

// The calling thread asks as a worker does when it starts. No other thread may be registered.
void become_exclusive() {
    sennit::base::register_this_thread();
    sennit::base::try_become_exclusive(0);
    sim::check(is_exclusive(), "the only registered thread becomes exclusive");
}

template <class Lock>
void count_up(Lock& lock, sim::var<int>& count) {
    const std::lock_guard guard(lock);
    count = count + 1;
}

// The exclusive thread takes the lock twice, and a second thread appears and takes it.
template <class Lock>
void second_thread_takes_lock() {
    Lock lock;
    sim::var<int> count{0};
    become_exclusive();
    sim::thread second([&] { count_up(lock, count); });
    for (int i = 0; i < 2; ++i) count_up(lock, count);
    second.join();
    sim::check(count == 3, "both threads have been inside");
    sim::check(is_exclusive(), "the second thread has ended");
}

struct guarded_part : sennit::monitor {
    sim::var<int> count{0};
};

void enter_both(guarded_part& a, guarded_part& b) {
    const auto in = sennit::enter<&enter_both>(a, b);
    a.count = a.count + 1;
    b.count = b.count + 1;
}

} // namespace

// ---- locks

SIM_SCENARIO_WITHIN(lock_elision, second_thread_takes_spin_lock, .preemptions = 3, .stale_reads = 2,
                    .elision = true) {
    second_thread_takes_lock<sennit::base::spin_lock>();
}

SIM_SCENARIO_WITHIN(lock_elision, second_thread_tries_spin_lock, .preemptions = 3, .stale_reads = 2,
                    .elision = true) {
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    int entered = 0;
    const auto try_to_count = [&] {
        if (!lock.try_lock()) return false;
        count = count + 1;
        lock.unlock();
        return true;
    };
    become_exclusive();
    bool second_entered = false;
    sim::thread second([&] { second_entered = try_to_count(); });
    for (int i = 0; i < 2; ++i) entered += try_to_count() ? 1 : 0;
    second.join();
    sim::check(entered + (second_entered ? 1 : 0) == count, "each admitted thread has counted");
    sim::check(count != 0, "one attempt at least finds the lock free");
}

SIM_SCENARIO_WITHIN(lock_elision, second_thread_locks_mutex, .preemptions = 2, .stale_reads = 2,
                    .elision = true) {
    second_thread_takes_lock<sennit::mutex>();
}

SIM_SCENARIO_WITHIN(lock_elision, exclusive_thread_unlocks_mutex_of_waiter, .preemptions = 2,
                    .stale_reads = 1, .elision = true) {
    sennit::mutex lock;
    sim::var<int> count{0};
    become_exclusive();
    lock.lock();
    sim::thread second([&] { count_up(lock, count); });
    sleep_until(soon()); // the second thread waits, and is not registered while it sleeps
    count = count + 1;
    lock.unlock();
    second.join();
    sim::check(count == 2, "both threads have been inside");
}

// Two threads that both ask become exclusive in turn.
SIM_SCENARIO_WITHIN(lock_elision, exclusive_mode_changes_thread, .preemptions = 2, .stale_reads = 1,
                    .elision = true) {
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    sim::in_threads(2, [&](unsigned) {
        sennit::base::register_this_thread();
        sennit::base::try_become_exclusive(0);
        for (int i = 0; i < 2; ++i) count_up(lock, count);
    });
    sim::check(count == 4, "both threads have been inside");
}

// A thread that sleeps is not registered. The other thread becomes exclusive meanwhile.
SIM_SCENARIO_WITHIN(lock_elision, thread_returns_from_sleep, .preemptions = 3, .stale_reads = 1,
                    .elision = true) {
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    become_exclusive();
    sim::thread second([&] {
        for (int i = 0; i < 2; ++i) {
            count_up(lock, count);
            sennit::base::unregister_this_thread(); // as before a sleep
        }
    });
    for (int i = 0; i < 2; ++i) count_up(lock, count);
    second.join();
    sim::check(count == 4, "both threads have been inside");
}

// A spare worker that is deactivated unregisters, and asks for exclusive mode before its next lock.
SIM_SCENARIO_WITHIN(lock_elision, unregistered_thread_asks_before_its_lock, .preemptions = 3,
                    .stale_reads = 1, .elision = true) {
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    sennit::base::register_this_thread();
    sim::thread second([&] {
        sennit::base::register_this_thread();
        sennit::base::unregister_this_thread();
        sennit::base::try_become_exclusive(0);
        count_up(lock, count);
    });
    for (int i = 0; i < 2; ++i) count_up(lock, count);
    second.join();
    sim::check(count == 3, "both threads have been inside");
}

// ---- models

SIM_SCENARIO_WITHIN(lock_elision, second_thread_sends_by_rendezvous, .preemptions = 2,
                    .stale_reads = 1, .elision = true) {
    sennit::channel<int> meet;
    sim::var<int> data{0};
    become_exclusive();
    sim::thread sender([&] {
        data = 1;
        sim::check(meet.push(7) == sennit::channel_status::success, "the push succeeds");
    });
    sim::check(meet.pop() == 7 && data == 1,
               "the value has arrived, and the writes before it are visible");
    sender.join();
}

SIM_SCENARIO_WITHIN(lock_elision, second_thread_receives_from_buffer, .preemptions = 2,
                    .stale_reads = 1, .elision = true) {
    sennit::channel<int> queue(1);
    become_exclusive();
    sim::thread receiver([&] {
        int next = 1;
        for (const int value : queue) sim::check(value == next++, "the values arrive in order");
        sim::check(next == 3, "all values have arrived");
    });
    for (int i = 1; i <= 2; ++i)
        sim::check(queue.push(i) == sennit::channel_status::success,
                   "there is room, or room comes");
    queue.close();
    receiver.join();
}

// The exclusive thread enters and leaves two monitors in one section.
SIM_SCENARIO_WITHIN(lock_elision, second_thread_enters_two_monitors, .preemptions = 2,
                    .stale_reads = 1, .elision = true) {
    guarded_part a, b;
    become_exclusive();
    sim::thread second([&] { enter_both(b, a); });
    for (int i = 0; i < 2; ++i) enter_both(a, b);
    second.join();
    sim::check(a.count == 3 && b.count == 3, "both threads have been inside both monitors");
}

SIM_SCENARIO_WITHIN(lock_elision, second_thread_enters_monitor, .preemptions = 2, .stale_reads = 1,
                    .elision = true) {
    guarded_part one;
    const auto step = [&] {
        const auto in = sennit::enter(one);
        one.count = one.count + 1;
    };
    become_exclusive();
    sim::thread second(step);
    for (int i = 0; i < 2; ++i) step();
    second.join();
    sim::check(one.count == 3, "both threads have been inside");
}

// ---- a runtime with one worker

// The thread that made the runtime has slept in its construction or in `run`, so the worker is the
// only registered thread until the other thread takes its first lock.
SIM_SCENARIO_WITHIN(lock_elision, thread_locks_mutex_of_exclusive_worker, .preemptions = 2,
                    .stale_reads = 0, .elision = true) {
    engine one(1);
    sennit::mutex lock;
    sim::var<int> count{0};
    sim::thread second([&] { count_up(lock, count); });
    one.run([&] {
        for (int i = 0; i < 2; ++i) count_up(lock, count);
    });
    second.join();
    sim::check(count == 3, "worker and thread have been inside");
}

SIM_SCENARIO_WITHIN(lock_elision, thread_sends_to_exclusive_worker, .preemptions = 2,
                    .stale_reads = 0, .elision = true) {
    engine one(1);
    sennit::channel<int> queue(1);
    sim::thread sender([&] {
        for (int i = 1; i <= 2; ++i)
            sim::check(queue.push(i) == sennit::channel_status::success,
                       "there is room or it comes");
        queue.close();
    });
    one.run([&] {
        int next = 1;
        for (const int value : queue) sim::check(value == next++, "the values arrive in order");
        sim::check(next == 3, "all values have arrived");
    });
    sender.join();
}

// The fiber's end is a plain store of the exclusive worker. It publishes the fiber's writes to a
// thread that takes no lock.
SIM_SCENARIO_WITHIN(lock_elision, unregistered_thread_sees_end_of_fiber, .preemptions = 2,
                    .stale_reads = 0, .elision = true) {
    engine one(1);
    sim::var<int> result{0};
    sennit::fiber strand({.runtime = &*one}, [&] { result = 1; });
    sennit::base::unregister_this_thread();
    strand.join();
    sim::check(result == 1, "the write of the fiber is visible");
}

// The end of a fiber and its join, while another thread holds a lock of the library.
SIM_SCENARIO_WITHIN(lock_elision, thread_counts_beside_fibers_of_exclusive_worker, .preemptions = 2,
                    .stale_reads = 1, .elision = true) {
    engine one(1);
    sennit::base::spin_lock lock;
    sim::var<int> count{0};
    sim::thread second([&] { count_up(lock, count); });
    one.run([&] {
        sennit::fiber strand([&] { count_up(lock, count); });
        strand.join();
        count_up(lock, count);
    });
    second.join();
    sim::check(count == 3, "fiber, worker and thread have been inside");
}
