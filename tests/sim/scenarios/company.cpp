// SPDX-License-Identifier: Apache-2.0
// Plain accesses while one thread alone works with the library: src/sys/company.hpp. The library itself is always in
// company here; the protocol is explored with words of the scenarios' own.
#include "explorer/sim.hpp"

#include "sennit/base/spin_lock.hpp"
#include "sys/company.hpp"

namespace sim = sennit::sim;
using sennit::base::membership;
using sennit::sys::company;

namespace {

// As base::spin_lock.
class lock_in_company {
public:
    void lock(membership& me) noexcept {
        if (me.enter()) {
            word_.store_rlx(1);
            me.leave();
            return;
        }
        for (unsigned round = 0; word_.exchange_acq(1) != 0; ++round) sennit::base::spin_pause(round);
    }
    void unlock() noexcept { word_.store_rel(0); }

private:
    sennit::base::atomic<unsigned> word_{0};
};

void count_up(lock_in_company& lock, sim::var<int>& count, membership& me) {
    lock.lock(me);
    count = count + 1;
    lock.unlock();
}

// As a step by base::unless_alone.
void add(sennit::base::atomic<int>& word, membership& me) {
    if (me.enter()) {
        word.store_rel(word.load_acq() + 1);
        me.leave();
    } else {
        word.fetch_add(1);
    }
}

// One member, one that may come, and what both count under a lock.
struct one_member {
    company all;
    membership first, second;
    lock_in_company lock;
    sim::var<int> count{0};
    one_member() { all.join(first, 0); }
    void first_counts() { count_up(lock, count, first); }
    void second_counts() { count_up(lock, count, second); }
    void second_comes_and_counts() {
        all.join(second, 0);
        second_counts();
    }
};

struct one_alone : one_member {
    one_alone() {
        all.seek_solitude(first, 0);
        sim::check(first.standing.load() == membership::alone, "nobody else is there");
    }
};

} // namespace

SIM_SCENARIO_WITHIN(company, who_comes_ends_a_solitude, .preemptions = 3, .stale_reads = 2) {
    one_alone here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    for (int i = 0; i < 2; ++i) here.first_counts();
    other.join();
    sim::check(here.count == 3, "all have counted");
}

SIM_SCENARIO_WITHIN(company, no_step_of_a_word_is_lost, .preemptions = 3, .stale_reads = 2) {
    company all;
    membership first, second;
    sennit::base::atomic<int> word{0};
    all.join(first, 0);
    all.seek_solitude(first, 0);
    sim::thread other([&] {
        all.join(second, 0);
        add(word, second);
        add(word, second);
    });
    for (int i = 0; i < 2; ++i) add(word, first);
    other.join();
    sim::check(word.load() == 4, "all have counted");
}

// Without any word between them: the end of the solitude carries it.
SIM_SCENARIO_WITHIN(company, what_was_done_alone_is_seen_by_who_comes, .preemptions = 3, .stale_reads = 2) {
    company all;
    membership first, second;
    sim::var<int> count{0};
    sennit::base::atomic<int> met{0}; // carries nothing: others may come between a step and the next
    int alone = 0;
    all.join(first, 0);
    all.seek_solitude(first, 0);
    sim::thread other([&] {
        all.join(second, 0);
        met.store_rlx(1);
        count = count + 1;
    });
    for (; alone < 2 && first.enter(); ++alone) {
        (void)met.load_rlx();
        count = count + 1;
        first.leave();
    }
    other.join();
    sim::check(count == alone + 1, "both have counted");
}

// Who leaves gives the last one its solitude, and what was done before.
SIM_SCENARIO_WITHIN(company, who_leaves_begins_a_solitude, .preemptions = 3, .stale_reads = 2) {
    one_member here;
    here.all.join(here.second, 0);
    here.all.seek_solitude(here.first, 0);
    sim::check(here.first.standing.load() == membership::in_company, "there is another one");
    sim::thread other([&] {
        here.second_counts();
        here.all.leave(here.second, 0);
    });
    for (int i = 0; i < 2; ++i) here.first_counts();
    other.join();
    sim::check(here.count == 3, "all have counted");
    sim::check(here.first.standing.load() == membership::alone, "the other has left");
}

// The last one that leaves tells of what the others did.
SIM_SCENARIO_WITHIN(company, what_the_first_to_leave_has_done_is_seen, .preemptions = 2, .stale_reads = 2) {
    company all;
    membership first, others[2];
    sim::var<int> done{0};
    all.join(first, 0);
    for (membership& each : others) all.join(each, 0);
    all.seek_solitude(first, 0);
    sim::thread one([&] {
        done = 1;
        all.leave(others[0], 0);
    });
    sim::thread two([&] { all.leave(others[1], 0); });
    for (int i = 0; i < 2; ++i) {
        if (!first.enter()) continue;
        sim::check(done == 1, "it was done before");
        first.leave();
    }
    one.join();
    two.join();
}

SIM_SCENARIO_WITHIN(company, one_that_comes_and_goes, .preemptions = 2, .stale_reads = 1) {
    one_alone here;
    sim::thread other([&] {
        for (int i = 0; i < 2; ++i) {
            here.second_comes_and_counts();
            here.all.leave(here.second, 0);
        }
    });
    for (int i = 0; i < 2; ++i) here.first_counts();
    other.join();
    sim::check(here.count == 4, "all have counted");
}

SIM_SCENARIO_WITHIN(company, two_come_at_once, .preemptions = 2, .stale_reads = 1) {
    company all;
    membership first, others[2];
    lock_in_company lock;
    sim::var<int> count{0};
    all.join(first, 0);
    all.seek_solitude(first, 0);
    sim::thread alone([&] { count_up(lock, count, first); });
    sim::in_threads(2, [&](unsigned i) {
        all.join(others[i], 0);
        count_up(lock, count, others[i]);
    });
    alone.join();
    sim::check(count == 3, "all have counted");
}

SIM_SCENARIO_WITHIN(company, seeking_meets_coming, .preemptions = 3, .stale_reads = 2) {
    one_member here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    here.all.seek_solitude(here.first, 0);
    here.first_counts();
    other.join();
    sim::check(here.count == 2, "both have counted");
    sim::check(here.first.standing.load() == membership::in_company, "there are two");
}

// A worker that stands down leaves, and comes back by looking for work.
SIM_SCENARIO_WITHIN(company, who_has_left_finds_no_solitude, .preemptions = 3, .stale_reads = 2) {
    one_member here;
    here.all.join(here.second, 0);
    sim::thread other([&] {
        here.all.leave(here.second, 0);
        here.all.seek_solitude(here.second, 0);
        if (here.second.standing.load() == membership::stranger)
            here.all.join(here.second, 0); // as its first lock does
        here.second_counts();
    });
    here.first_counts();
    other.join();
    sim::check(here.count == 2, "both have counted");
}

// Nobody waits for one that was alone and is gone.
SIM_SCENARIO_WITHIN(company, who_was_alone_leaves, .preemptions = 3, .stale_reads = 2) {
    one_alone here;
    sim::thread other([&] { here.second_comes_and_counts(); });
    here.first_counts();
    here.all.leave(here.first, 0);
    other.join();
    sim::check(here.count == 2, "both have counted");
    sim::check(here.first.standing.load() == membership::stranger, "it has left");
}
