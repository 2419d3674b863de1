// SPDX-License-Identifier: Apache-2.0
// The lock whose owner pays nothing: src/core/queues/biased_lock.hpp; where there is no membarrier,
// Dekker's pattern with sequentially consistent accesses.
#include "engine.hpp"

#include "core/policy/tuning.hpp"
#include "core/queues/biased_lock.hpp"

using sennit::sched::biased_lock;
using sennit::sched::owner_guard;

SIM_SCENARIO_BOTH_WAYS(biased_lock, lets_one_in_at_a_time, .preemptions = 3, .stale_reads = 2) {
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
    sim::check(count == (let_in ? 3 : 2), "whoever was let in has counted");
}

SIM_SCENARIO_BOTH_WAYS(biased_lock, carries_what_was_written_inside, .preemptions = 3,
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
        if (let_in.load_rlx() == 1) sim::check(to_owner == 7, "the owner sees what the other did");
    }
    other.join();
}

// The owner does not leave for a while: the other gives up, and nobody is locked out.
SIM_SCENARIO_BOTH_WAYS(biased_lock, a_remote_lock_that_is_given_up_leaves_it_free, .preemptions = 2,
                       .stale_reads = 1) {
    biased_lock lock;
    sim::var<int> count{0};
    event inside, tried;
    lock.enter();
    sim::thread other([&] {
        inside.wait();
        sim::check(!lock.try_lock_remote(), "nobody comes in while the owner is inside");
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

SIM_SCENARIO_BOTH_WAYS(biased_lock, two_others_come_in_one_by_one, .preemptions = 2,
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
    sim::check(count == let_in.load() + 1, "whoever was let in has counted");
}

// The owner finds the claim, waits for its end and must not miss it.
SIM_SCENARIO_BOTH_WAYS(biased_lock, the_owner_gets_in_after_the_other, .preemptions = 2,
                       .stale_reads = 1) {
    biased_lock lock;
    sim::var<int> count{0};
    event claimed;
    sim::thread other([&] {
        sim::check(lock.try_lock_remote().acquired, "nobody else wants it");
        claimed.set();
        count = count + 1;
        lock.unlock_remote();
    });
    claimed.wait();
    {
        owner_guard inside(lock);
        sim::check(count == 1, "the other was in, and what it did is seen");
        count = 2;
    }
    other.join();
}

// The first claim leaves the owner wary, the next one may find it so, or just gone back. Each is
// let in alone.
SIM_SCENARIO_WITHIN(biased_lock, a_contended_owner_needs_no_barrier, .preemptions = 3,
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
    sim::check(count == let_in + 3, "whoever was let in has counted");
}

// It is wary for some sections, and then as before.
SIM_SCENARIO_WITHIN(biased_lock, an_owner_is_not_contended_for_ever, .preemptions = 2,
                    .stale_reads = 1) {
    biased_lock lock;
    event claimed;
    sim::check(!lock.is_contended(), "nobody has claimed");
    sim::thread other([&] {
        sim::check(lock.try_lock_remote().acquired, "nobody else wants it");
        sim::check(lock.is_contended(), "now it is");
        lock.unlock_remote();
        claimed.set();
    });
    claimed.wait();
    for (unsigned i = 0; i <= sennit::sched::tuning::contended_sections; ++i) {
        sim::check(lock.is_contended(), "still");
        owner_guard inside(lock);
    }
    sim::check(!lock.is_contended(), "no longer");
    other.join();
}
