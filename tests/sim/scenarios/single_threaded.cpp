// SPDX-License-Identifier: Apache-2.0
// Plain accesses while only one thread works with the library: src/sys/single_threaded.hpp. The
// protocol is explored with registrations and words that belong to the scenarios, and the library
// itself is in shared mode. `lock_elision.cpp` explores the library in exclusive mode.
#include "explorer/sim.hpp"

#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/single_threaded.hpp"

namespace sim = sennit::sim;
using sennit::base::thread_registration;
using sennit::sys::single_thread_mode;

namespace {

bool is_exclusive(const thread_registration& whose) {
    return whose.key.load() == thread_registration::exclusive;
}

// Works like base::spin_lock.
class elidable_lock {
public:
    void lock(thread_registration& me) noexcept {
        if (me.begin_exclusive()) {
            word_.store_rlx(1);
            me.end_exclusive();
            return;
        }
        for (unsigned round = 0; word_.exchange_acq(1) != 0; ++round)
            sennit::base::spin_pause(round);
    }
    void unlock() noexcept { word_.store_rel(0); }

private:
    sennit::base::atomic<unsigned> word_{0};
};

void count_up(elidable_lock& lock, sim::var<int>& count, thread_registration& me) {
    lock.lock(me);
    count = count + 1;
    lock.unlock();
}

// Performs one operation like base::elidable.
void add(sennit::base::atomic<int>& word, thread_registration& me) {
    if (me.begin_exclusive()) {
        word.store_rel(word.load_acq() + 1);
        me.end_exclusive();
    } else {
        word.fetch_add(1);
    }
}

// One registered thread, one thread that may register, and a count of both under a lock.
struct one_member {
    single_thread_mode all;
    thread_registration first, second;
    elidable_lock lock;
    sim::var<int> count{0};
    one_member() { all.register_thread(first, 0); }
    void first_counts() { count_up(lock, count, first); }
    void second_counts() { count_up(lock, count, second); }
    void second_comes_and_counts() {
        all.register_thread(second, 0);
        second_counts();
    }
};

struct one_exclusive : one_member {
    one_exclusive() {
        all.try_become_exclusive(first, 0);
        sim::check(is_exclusive(first), "no other thread is registered");
    }
};

} // namespace

SIM_SCENARIO_WITHIN(single_thread_mode, registering_ends_exclusive_mode, .preemptions = 3,
                    .stale_reads = 2) {
    one_exclusive here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    for (int i = 0; i < 2; ++i) here.first_counts();
    other.join();
    sim::check(here.count == 3, "all threads have counted");
}

SIM_SCENARIO_WITHIN(single_thread_mode, no_update_of_word_is_lost, .preemptions = 3,
                    .stale_reads = 2) {
    single_thread_mode all;
    thread_registration first, second;
    sennit::base::atomic<int> word{0};
    all.register_thread(first, 0);
    all.try_become_exclusive(first, 0);
    sim::thread other([&] {
        all.register_thread(second, 0);
        add(word, second);
        add(word, second);
    });
    for (int i = 0; i < 2; ++i) add(word, first);
    other.join();
    sim::check(word.load() == 4, "all threads have counted");
}

// There is no word between the threads: the end of exclusive mode publishes the write.
SIM_SCENARIO_WITHIN(single_thread_mode, exclusive_writes_are_seen_by_the_next_thread,
                    .preemptions = 3, .stale_reads = 2) {
    single_thread_mode all;
    thread_registration first, second;
    sim::var<int> count{0};
    // orders nothing: another thread may run between two steps
    sennit::base::atomic<int> met{0};
    int alone = 0;
    all.register_thread(first, 0);
    all.try_become_exclusive(first, 0);
    sim::thread other([&] {
        all.register_thread(second, 0);
        met.store_rlx(1);
        count = count + 1;
    });
    for (; alone < 2 && first.begin_exclusive(); ++alone) {
        (void)met.load_rlx();
        count = count + 1;
        first.end_exclusive();
    }
    other.join();
    sim::check(count == alone + 1, "both threads have counted");
}

// A thread that unregisters puts the last registered thread into exclusive mode, and publishes its
// writes to it.
SIM_SCENARIO_WITHIN(single_thread_mode, unregistering_begins_exclusive_mode, .preemptions = 3,
                    .stale_reads = 2) {
    one_member here;
    here.all.register_thread(here.second, 0);
    here.all.try_become_exclusive(here.first, 0);
    sim::check(!is_exclusive(here.first), "another thread is registered");
    sim::thread other([&] {
        here.second_counts();
        here.all.unregister_thread(here.second, 0);
    });
    for (int i = 0; i < 2; ++i) here.first_counts();
    other.join();
    sim::check(here.count == 3, "all threads have counted");
    sim::check(is_exclusive(here.first), "the other thread has unregistered");
}

// The last thread that unregisters publishes the writes of the earlier threads.
SIM_SCENARIO_WITHIN(single_thread_mode, writes_of_first_unregistered_thread_are_visible,
                    .preemptions = 2, .stale_reads = 2) {
    single_thread_mode all;
    thread_registration first, others[2];
    sim::var<int> done{0};
    all.register_thread(first, 0);
    for (thread_registration& each : others) all.register_thread(each, 0);
    all.try_become_exclusive(first, 0);
    sim::thread one([&] {
        done = 1;
        all.unregister_thread(others[0], 0);
    });
    sim::thread two([&] { all.unregister_thread(others[1], 0); });
    for (int i = 0; i < 2; ++i) {
        if (!first.begin_exclusive()) continue;
        sim::check(done == 1, "the write of the first thread is visible");
        first.end_exclusive();
    }
    one.join();
    two.join();
}

SIM_SCENARIO_WITHIN(single_thread_mode, thread_registers_and_unregisters, .preemptions = 2,
                    .stale_reads = 1) {
    one_exclusive here;
    sim::thread other([&] {
        for (int i = 0; i < 2; ++i) {
            here.second_comes_and_counts();
            here.all.unregister_thread(here.second, 0);
        }
    });
    for (int i = 0; i < 2; ++i) here.first_counts();
    other.join();
    sim::check(here.count == 4, "all threads have counted");
}

SIM_SCENARIO_WITHIN(single_thread_mode, two_threads_register_concurrently, .preemptions = 2,
                    .stale_reads = 1) {
    single_thread_mode all;
    thread_registration first, others[2];
    elidable_lock lock;
    sim::var<int> count{0};
    all.register_thread(first, 0);
    all.try_become_exclusive(first, 0);
    sim::thread alone([&] { count_up(lock, count, first); });
    sim::in_threads(2, [&](unsigned i) {
        all.register_thread(others[i], 0);
        count_up(lock, count, others[i]);
    });
    alone.join();
    sim::check(count == 3, "all threads have counted");
}

SIM_SCENARIO_WITHIN(single_thread_mode, try_become_exclusive_races_register, .preemptions = 3,
                    .stale_reads = 2) {
    one_member here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    here.all.try_become_exclusive(here.first, 0);
    here.first_counts();
    other.join();
    sim::check(here.count == 2, "both threads have counted");
    sim::check(!is_exclusive(here.first), "two threads are registered");
}

// A worker that is deactivated unregisters, and registers again when it looks for work.
SIM_SCENARIO_WITHIN(single_thread_mode, unregistered_thread_does_not_become_exclusive,
                    .preemptions = 3, .stale_reads = 2) {
    one_member here;
    here.all.register_thread(here.second, 0);
    sim::thread other([&] {
        here.all.unregister_thread(here.second, 0);
        here.all.try_become_exclusive(here.second, 0);
        if (here.second.key.load() == thread_registration::unregistered)
            here.all.register_thread(here.second, 0); // its first lock does this
        here.second_counts();
    });
    here.first_counts();
    other.join();
    sim::check(here.count == 2, "both threads have counted");
}

// No thread waits for an exclusive thread that has unregistered.
SIM_SCENARIO_WITHIN(single_thread_mode, exclusive_thread_unregisters, .preemptions = 3,
                    .stale_reads = 2) {
    one_exclusive here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    here.first_counts();
    here.all.unregister_thread(here.first, 0);
    other.join();
    sim::check(here.count == 2, "both threads have counted");
    sim::check(here.first.key.load() == thread_registration::unregistered,
               "the thread has unregistered");
}
