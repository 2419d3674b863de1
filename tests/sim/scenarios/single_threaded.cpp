// SPDX-License-Identifier: Apache-2.0
// Plain accesses while one thread alone works with the library: src/sys/single_threaded.hpp. The
// library itself is always in company here; the protocol is explored with words of the scenarios'
// own.
#include "explorer/sim.hpp"

#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/single_threaded.hpp"

namespace sim = sennit::sim;
using sennit::base::thread_registration;
using sennit::sys::single_thread_mode;

namespace {

// As base::spin_lock.
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

// As a step by base::elidable.
void add(sennit::base::atomic<int>& word, thread_registration& me) {
    if (me.begin_exclusive()) {
        word.store_rel(word.load_acq() + 1);
        me.end_exclusive();
    } else {
        word.fetch_add(1);
    }
}

// One member, one that may come, and what both count under a lock.
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
        sim::check(first.mode.load() == thread_registration::exclusive, "nobody else is there");
    }
};

} // namespace

SIM_SCENARIO_WITHIN(single_thread_mode, registering_ends_exclusive_mode, .preemptions = 3,
                    .stale_reads = 2) {
    one_exclusive here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    for (int i = 0; i < 2; ++i) here.first_counts();
    other.join();
    sim::check(here.count == 3, "all have counted");
}

SIM_SCENARIO_WITHIN(single_thread_mode, no_step_of_a_word_is_lost, .preemptions = 3,
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
    sim::check(word.load() == 4, "all have counted");
}

// Without any word between them: the end of the solitude carries it.
SIM_SCENARIO_WITHIN(single_thread_mode, exclusive_writes_are_seen_by_the_next_thread,
                    .preemptions = 3, .stale_reads = 2) {
    single_thread_mode all;
    thread_registration first, second;
    sim::var<int> count{0};
    sennit::base::atomic<int> met{
        0}; // carries nothing: others may come between a step and the next
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
    sim::check(count == alone + 1, "both have counted");
}

// Who leaves gives the last one its solitude, and what was done before.
SIM_SCENARIO_WITHIN(single_thread_mode, unregistering_begins_exclusive_mode, .preemptions = 3,
                    .stale_reads = 2) {
    one_member here;
    here.all.register_thread(here.second, 0);
    here.all.try_become_exclusive(here.first, 0);
    sim::check(here.first.mode.load() == thread_registration::shared, "there is another one");
    sim::thread other([&] {
        here.second_counts();
        here.all.unregister_thread(here.second, 0);
    });
    for (int i = 0; i < 2; ++i) here.first_counts();
    other.join();
    sim::check(here.count == 3, "all have counted");
    sim::check(here.first.mode.load() == thread_registration::exclusive, "the other has left");
}

// The last one that leaves tells of what the others did.
SIM_SCENARIO_WITHIN(single_thread_mode, what_the_first_to_leave_has_done_is_seen, .preemptions = 2,
                    .stale_reads = 2) {
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
        sim::check(done == 1, "it was done before");
        first.end_exclusive();
    }
    one.join();
    two.join();
}

SIM_SCENARIO_WITHIN(single_thread_mode, one_that_comes_and_goes, .preemptions = 2,
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
    sim::check(here.count == 4, "all have counted");
}

SIM_SCENARIO_WITHIN(single_thread_mode, two_come_at_once, .preemptions = 2, .stale_reads = 1) {
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
    sim::check(count == 3, "all have counted");
}

SIM_SCENARIO_WITHIN(single_thread_mode, try_become_exclusive_meets_register, .preemptions = 3,
                    .stale_reads = 2) {
    one_member here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    here.all.try_become_exclusive(here.first, 0);
    here.first_counts();
    other.join();
    sim::check(here.count == 2, "both have counted");
    sim::check(here.first.mode.load() == thread_registration::shared, "there are two");
}

// A worker that stands down leaves, and comes back by looking for work.
SIM_SCENARIO_WITHIN(single_thread_mode, an_unregistered_thread_does_not_become_exclusive,
                    .preemptions = 3, .stale_reads = 2) {
    one_member here;
    here.all.register_thread(here.second, 0);
    sim::thread other([&] {
        here.all.unregister_thread(here.second, 0);
        here.all.try_become_exclusive(here.second, 0);
        if (here.second.mode.load() == thread_registration::unregistered)
            here.all.register_thread(here.second, 0); // as its first lock does
        here.second_counts();
    });
    here.first_counts();
    other.join();
    sim::check(here.count == 2, "both have counted");
}

// Nobody waits for one that was alone and is gone.
SIM_SCENARIO_WITHIN(single_thread_mode, the_exclusive_thread_unregisters, .preemptions = 3,
                    .stale_reads = 2) {
    one_exclusive here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    here.first_counts();
    here.all.unregister_thread(here.first, 0);
    other.join();
    sim::check(here.count == 2, "both have counted");
    sim::check(here.first.mode.load() == thread_registration::unregistered, "it has left");
}
