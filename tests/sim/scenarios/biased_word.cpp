// SPDX-License-Identifier: Apache-2.0
// Locks that are biased to one of several threads: src/sys/single_threaded.hpp. The first scenarios
// explore the protocol with registrations and words of their own. The last ones explore locks of
// the library, which are biased after two uses here.
#include "engine.hpp"
#include "explorer/sim.hpp"
#include "threads.hpp"

#include "sennit/channel.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"
#include "sys/single_threaded.hpp"

#include <mutex>

namespace sim = sennit::sim;
using sennit::base::thread_registration;
using sennit::sys::single_thread_mode;

namespace {

// Works like base::spin_lock.
class biased_spin_lock {
public:
    explicit biased_spin_lock(single_thread_mode& all) noexcept : all_(all) {}
    // The owner may update the word plainly from now on. It is in shared mode.
    void set_bias(thread_registration& owner) {
        const std::uint32_t bias = all_.request_bias(owner, 0, 0);
        sim::check(bias != 0, "the thread is given the bias");
        word_.store(bias);
    }
    void lock(thread_registration& me) noexcept {
        for (unsigned round = 0;;) {
            std::uint32_t seen = 0;
            if (me.update(word_, 0u, 1u) || word_.cas_acq(seen, 1)) return;
            while ((word_.load_rlx() & 1) != 0) sennit::base::spin_pause(round++);
            if (sennit::base::is_biased(seen)) end_bias(me);
        }
    }
    // As `lock`, and keeps the bias for the calling thread.
    void lock_and_take_bias(thread_registration& me) {
        lock(me);
        word_.store_rlx(all_.request_bias(me, 0, 0) | 1);
    }
    void end_bias(thread_registration& me) noexcept {
        all_.end_bias(word_, me, single_thread_mode::end_of_bias::if_free, 0);
    }
    // Counts if the word is neutral and the lock is free.
    bool try_to_count() {
        std::uint32_t seen = 0;
        if (!word_.cas_acq(seen, 1)) return false;
        count = count + 1;
        unlock();
        return true;
    }
    void unlock() noexcept { word_.store_rel(word_.load_rlx() & ~1u); }
    void count_up(thread_registration& me) {
        lock(me);
        count = count + 1;
        unlock();
    }
    sim::var<int> count{0};

private:
    single_thread_mode& all_;
    sennit::base::atomic<std::uint32_t> word_{0};
};

// Threads in shared mode. The first two have an id.
struct shared_threads {
    single_thread_mode all;
    thread_registration first, second, third;
    shared_threads() {
        for (thread_registration* each : {&first, &second, &third}) all.register_thread(*each, 0);
        all.try_become_exclusive(first, 0);
        all.try_become_exclusive(second, 0);
        sim::check(first.key.load() != thread_registration::exclusive, "there are other threads");
    }
};

} // namespace

SIM_SCENARIO_WITHIN(biased_word, owner_and_revoker_exclude_each_other, .preemptions = 3,
                    .stale_reads = 2) {
    shared_threads here;
    biased_spin_lock lock(here.all);
    lock.set_bias(here.first);
    sim::thread other([&] { lock.count_up(here.second); });
    for (int i = 0; i < 2; ++i) lock.count_up(here.first);
    other.join();
    sim::check(lock.count == 3, "all threads have counted");
}

SIM_SCENARIO_WITHIN(biased_word, two_revokers_of_one_word, .preemptions = 3, .stale_reads = 1) {
    shared_threads here;
    biased_spin_lock lock(here.all);
    lock.set_bias(here.first);
    sim::thread one([&] { lock.count_up(here.second); });
    sim::thread two([&] { lock.count_up(here.third); });
    lock.count_up(here.first);
    one.join();
    two.join();
    sim::check(lock.count == 3, "all threads have counted");
}

// A third thread, which never waits for the gate, sees the writes of the owner in the neutral word.
SIM_SCENARIO_WITHIN(biased_word, neutral_word_publishes_writes_of_owner, .preemptions = 3,
                    .stale_reads = 1) {
    shared_threads here;
    biased_spin_lock lock(here.all);
    lock.set_bias(here.first);
    int counted = 0;
    sim::thread revoker([&] { lock.end_bias(here.second); });
    sim::thread user([&] { counted = lock.try_to_count() ? 1 : 0; });
    lock.count_up(here.first);
    revoker.join();
    user.join();
    sim::check(lock.count == 1 + counted, "all threads have counted");
}

// The second loss within a moment gives the owner a new id here. A word with the old id has no
// owner then.
SIM_SCENARIO_WITHIN(biased_word, owner_of_three_words_takes_new_id, .preemptions = 2,
                    .stale_reads = 1) {
    shared_threads here;
    biased_spin_lock locks[] = {biased_spin_lock(here.all), biased_spin_lock(here.all),
                                biased_spin_lock(here.all)};
    for (biased_spin_lock& each : locks) each.set_bias(here.first);
    sim::thread other([&] {
        for (biased_spin_lock& each : locks) each.count_up(here.second);
    });
    for (std::size_t i = 3; i > 0; --i) locks[i - 1].count_up(here.first);
    other.join();
    for (biased_spin_lock& each : locks) sim::check(each.count == 2, "both threads have counted");
}

// Each thread takes the word of the other one.
SIM_SCENARIO_WITHIN(biased_word, crossed_revocations_end, .preemptions = 3, .stale_reads = 1) {
    shared_threads here;
    biased_spin_lock mine(here.all), its(here.all);
    mine.set_bias(here.first);
    its.set_bias(here.second);
    sim::thread other([&] {
        mine.count_up(here.second);
        its.count_up(here.second);
    });
    its.count_up(here.first);
    mine.count_up(here.first);
    other.join();
    sim::check(mine.count == 2 && its.count == 2, "both threads have counted");
}

SIM_SCENARIO_WITHIN(biased_word, owner_sleeps_and_returns, .preemptions = 3, .stale_reads = 1) {
    shared_threads here;
    biased_spin_lock lock(here.all);
    lock.set_bias(here.first);
    sim::thread other([&] { lock.count_up(here.second); });
    lock.count_up(here.first);
    here.all.unregister_thread(here.first, 0);
    here.all.register_thread(here.first, 0);
    lock.count_up(here.first);
    other.join();
    sim::check(lock.count == 3, "both threads have counted");
}

SIM_SCENARIO_WITHIN(biased_word, owner_ends, .preemptions = 3, .stale_reads = 1) {
    shared_threads here;
    biased_spin_lock lock(here.all);
    lock.set_bias(here.first);
    sim::thread other([&] {
        for (int i = 0; i < 2; ++i) lock.count_up(here.second);
    });
    lock.count_up(here.first);
    here.all.unregister_thread(here.first, 0);
    here.all.release_id(here.first);
    other.join();
    sim::check(lock.count == 3, "both threads have counted");
}

// A thread that becomes exclusive finds words that are biased to itself and to a sleeping thread.
SIM_SCENARIO_WITHIN(biased_word, exclusive_thread_finds_biased_words, .preemptions = 3,
                    .stale_reads = 1) {
    shared_threads here;
    here.all.unregister_thread(here.third, 0);
    biased_spin_lock mine(here.all), its(here.all);
    mine.set_bias(here.first);
    its.set_bias(here.second);
    sim::thread other([&] {
        its.count_up(here.second);
        here.all.unregister_thread(here.second, 0);
        here.all.register_thread(here.second, 0);
        its.count_up(here.second);
    });
    mine.count_up(here.first);
    its.count_up(here.first);
    other.join();
    sim::check(mine.count == 1 && its.count == 3, "both threads have counted");
}

SIM_SCENARIO_WITHIN(biased_word, holder_takes_bias_beside_other_users, .preemptions = 3,
                    .stale_reads = 1) {
    shared_threads here;
    biased_spin_lock lock(here.all);
    sim::thread other([&] {
        for (int i = 0; i < 2; ++i) lock.count_up(here.second);
    });
    lock.lock_and_take_bias(here.first);
    lock.count = lock.count + 1;
    lock.unlock();
    lock.count_up(here.first);
    other.join();
    sim::check(lock.count == 4, "both threads have counted");
}

// ---- locks of the library

SIM_SCENARIO_WITHIN(biased_word, second_thread_locks_biased_mutex, .preemptions = 2,
                    .stale_reads = 1, .elision = true) {
    sennit::mutex lock;
    sim::var<int> count{0};
    const auto count_up = [&] {
        const std::lock_guard guard(lock);
        count = count + 1;
    };
    sim::in_threads(2, [&](unsigned i) {
        sennit::base::register_this_thread();
        sennit::base::try_become_exclusive(0);
        for (unsigned k = i; k < 4; ++k) count_up();
    });
    sim::check(count == 7, "both threads have been inside");
}

SIM_SCENARIO_WITHIN(biased_word, second_thread_waits_for_biased_mutex, .preemptions = 2,
                    .stale_reads = 1, .elision = true) {
    sennit::mutex lock;
    sim::var<int> count{0};
    sim::thread idle([] { sennit::base::register_this_thread(); });
    sennit::base::register_this_thread();
    sennit::base::try_become_exclusive(0);
    for (int i = 0; i < 2; ++i) {
        const std::lock_guard guard(lock);
        count = count + 1;
    }
    lock.lock();
    sim::thread second([&] {
        const std::lock_guard guard(lock);
        count = count + 1;
    });
    count = count + 1;
    lock.unlock();
    second.join();
    idle.join();
    sim::check(count == 4, "both threads have been inside");
}

SIM_SCENARIO_WITHIN(biased_word, second_thread_receives_from_biased_channel, .preemptions = 2,
                    .stale_reads = 1, .elision = true) {
    sennit::channel<int> queue(4);
    sim::in_threads(2, [&](unsigned i) {
        sennit::base::register_this_thread();
        sennit::base::try_become_exclusive(0);
        if (i == 0) {
            for (int k = 1; k <= 4; ++k)
                sim::check(queue.push(k) == sennit::channel_status::success, "there is room");
            queue.close();
        } else {
            int next = 1;
            for (const int value : queue) sim::check(value == next++, "the values are in order");
            sim::check(next == 5, "all values have arrived");
        }
    });
}
