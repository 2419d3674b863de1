// SPDX-License-Identifier: Apache-2.0
// shared_mutex, shared_timed_mutex: sennit/shared_mutex.hpp.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/fiber.hpp"
#include "sennit/shared_mutex.hpp"

#include <mutex>
#include <shared_mutex>

SIM_SCENARIO_WITHIN(shared_mutex, two_readers_exclude_writer, .preemptions = 2, .stale_reads = 1) {
    sennit::shared_mutex lock;
    sim::var<int> data{0};
    sim::thread writer([&] {
        std::lock_guard guard(lock);
        data = 1;
        data = 2;
    });
    sim::in_threads(2, [&](unsigned) {
        std::shared_lock guard(lock);
        const int seen = data;
        sim::check(seen == 0 || seen == 2, "no reader sees a partial write");
    });
    writer.join();
}

SIM_SCENARIO_WITHIN(shared_mutex, two_writers_exclude_reader, .preemptions = 2, .stale_reads = 1) {
    sennit::shared_mutex lock;
    sim::var<int> data{0};
    sim::thread reader([&] {
        std::shared_lock guard(lock);
        (void)data.get();
    });
    sim::in_threads(2, [&](unsigned) {
        std::lock_guard guard(lock);
        data = data + 1;
    });
    reader.join();
    sim::check(data == 2, "both writers have written");
}

// A reader waits behind a writer, which waits for another reader. The writer times out, and must
// let the reader behind it continue.
SIM_SCENARIO_WITHIN(shared_mutex, timed_out_writer_lets_readers_in, .preemptions = 2,
                    .stale_reads = 0) {
    sennit::shared_timed_mutex lock;
    const time_point when = soon();
    lock.lock_shared();
    sim::thread writer([&] { sim::check(!lock.try_lock_until(when), "a reader is inside"); });
    sim::thread reader([&] {
        lock.lock_shared();
        lock.unlock_shared();
    });
    reader.join();
    writer.join();
    lock.unlock_shared();
}

// The writer's deadline passes while the reader leaves.
SIM_SCENARIO_WITHIN(shared_mutex, timed_writer_races_last_reader_unlock, .preemptions = 2,
                    .stale_reads = 1) {
    sennit::shared_timed_mutex lock;
    sim::var<int> data{0};
    const time_point when = soon();
    bool got = false;
    lock.lock_shared();
    sim::thread writer([&] {
        got = lock.try_lock_until(when);
        if (!got) return;
        data = 1;
        lock.unlock();
    });
    sleep_until(when);
    const int seen = data;
    lock.unlock_shared();
    writer.join();
    sim::check(seen == 0 && data == (got ? 1 : 0),
               "the writer wrote if and only if it was admitted");
    sim::check(lock.try_lock(), "the mutex is free");
    lock.unlock();
}

// ---- on workers

SIM_SCENARIO_WITHIN(shared_mutex, fiber_reads_value_of_thread, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    sennit::shared_mutex lock;
    sim::var<int> data{0};
    sennit::fiber reader({.runtime = &*one}, [&] {
        std::shared_lock guard(lock);
        const int seen = data;
        sim::check(seen == 0 || seen == 2, "no reader sees a partial write");
    });
    {
        std::lock_guard guard(lock);
        data = 1;
        data = 2;
    }
    reader.join();
}
