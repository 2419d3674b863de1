// SPDX-License-Identifier: Apache-2.0
// The biased lock: src/core/queues/biased_lock.hpp. Without membarrier, it uses Dekker's pattern
// with sequentially consistent accesses.
#include "engine.hpp"

#include "core/policy/tuning.hpp"
#include "core/queues/biased_lock.hpp"

using sennit::sched::biased_lock;
using sennit::sched::owner_guard;

SIM_SCENARIO_BOTH_WAYS(biased_lock, biased_lock_admits_one_thread_at_a_time, .preemptions = 3,
                       .stale_reads = 2) {
    biased_lock lock;
    sim::var<int> count{0};
    bool let_in = false;
    sim::thread other([&] {
        if (!lock.try_lock_remote()) return;
        let_in = true;
        count = count + 1;
        lock.unlock_remote();
    });
    for (int i = 0; i < 2; ++i) {
        owner_guard inside(lock);
        count = count + 1;
    }
    other.join();
    sim::check(count == (let_in ? 3 : 2), "each admitted thread has counted");
}

SIM_SCENARIO_BOTH_WAYS(biased_lock, section_publishes_its_writes, .preemptions = 3,
                       .stale_reads = 2) {
    biased_lock lock;
    sim::var<int> to_other{0}, to_owner{0};
    sennit::base::atomic<int> let_in{0};
    sim::thread other([&] {
        if (!lock.try_lock_remote()) return;
        (void)to_other.get();
        to_owner = 7;
        let_in.store_rlx(1);
        lock.unlock_remote();
    });
    {
        owner_guard inside(lock);
        to_other = 42;
    }
    {
        owner_guard inside(lock);
        if (let_in.load_rlx() == 1)
            sim::check(to_owner == 7, "the owner sees the write of the remote thread");
    }
    other.join();
}

// The owner stays inside for a while: the remote thread gives up, and no thread is locked out
// afterwards.
SIM_SCENARIO_BOTH_WAYS(biased_lock, abandoned_remote_lock_leaves_lock_free, .preemptions = 2,
                       .stale_reads = 1) {
    biased_lock lock;
    sim::var<int> count{0};
    event inside, tried;
    lock.enter();
    sim::thread other([&] {
        inside.wait();
        sim::check(!lock.try_lock_remote(), "no remote thread enters while the owner is inside");
        tried.set();
        if (!lock.try_lock_remote()) return;
        count = count + 1;
        lock.unlock_remote();
    });
    inside.set();
    tried.wait();
    count = count + 1;
    lock.leave();
    {
        owner_guard again(lock);
        count = count + 1;
    }
    other.join();
    sim::check(count >= 2, "the owner was in twice");
}

SIM_SCENARIO_BOTH_WAYS(biased_lock, two_remote_threads_enter_one_by_one, .preemptions = 2,
                       .stale_reads = 1) {
    biased_lock lock;
    sim::var<int> count{0};
    sennit::base::atomic<int> let_in{0};
    sim::thread owner([&] {
        owner_guard inside(lock);
        count = count + 1;
    });
    sim::in_threads(2, [&](unsigned) {
        if (!lock.try_lock_remote()) return;
        count = count + 1;
        let_in.fetch_add(1);
        lock.unlock_remote();
    });
    owner.join();
    sim::check(count == let_in.load() + 1, "each admitted thread has counted");
}

// The owner finds the lock revoked, waits for the remote section to end, and must not miss the end.
SIM_SCENARIO_BOTH_WAYS(biased_lock, owner_enters_after_remote_thread, .preemptions = 2,
                       .stale_reads = 1) {
    biased_lock lock;
    sim::var<int> count{0};
    event claimed;
    sim::thread other([&] {
        sim::check(lock.try_lock_remote().acquired, "there is no contender");
        claimed.set();
        count = count + 1;
        lock.unlock_remote();
    });
    claimed.wait();
    {
        owner_guard inside(lock);
        sim::check(count == 1, "the remote thread was inside, and its write is visible");
        count = 2;
    }
    other.join();
}

// The first revocation leaves the lock contended. The next one finds it contended, or just back in
// biased mode. Each thread is admitted alone.
SIM_SCENARIO_WITHIN(biased_lock, contended_owner_needs_no_membarrier, .preemptions = 3,
                    .stale_reads = 2) {
    biased_lock lock;
    sim::var<int> count{0};
    int let_in = 0;
    sim::thread other([&] {
        for (int i = 0; i < 2; ++i) {
            if (!lock.try_lock_remote()) continue;
            ++let_in;
            count = count + 1;
            lock.unlock_remote();
        }
    });
    for (int i = 0; i < 3; ++i) {
        owner_guard inside(lock);
        count = count + 1;
    }
    other.join();
    sim::check(count == let_in + 3, "each admitted thread has counted");
}

// The lock stays contended for some sections of the owner, then returns to biased mode.
SIM_SCENARIO_WITHIN(biased_lock, lock_returns_to_biased_mode, .preemptions = 2, .stale_reads = 1) {
    biased_lock lock;
    event claimed;
    sim::check(!lock.is_contended(), "there was no revocation");
    sim::thread other([&] {
        sim::check(lock.try_lock_remote().acquired, "there is no contender");
        sim::check(lock.is_contended(), "a revocation makes the lock contended");
        lock.unlock_remote();
        claimed.set();
    });
    claimed.wait();
    for (unsigned i = 0; i <= sennit::sched::tuning::contended_sections; ++i) {
        sim::check(lock.is_contended(), "still");
        owner_guard inside(lock);
    }
    sim::check(!lock.is_contended(), "the lock is biased again");
    other.join();
}
