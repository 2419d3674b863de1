// SPDX-License-Identifier: Apache-2.0
// Tests when a lock becomes biased to a thread, and how it loses the bias. tests/sim explores the
// protocol; the last tests here run it on real threads.
#include "../../support/alone.hpp"
#include "sennit/detail/sys/biased_word.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/fiber.hpp"
#include "sennit/mutex.hpp"
#include "sennit/runtime.hpp"
#include "sennit/this_fiber.hpp"
#include "sys/membarrier.hpp"
#include "sys/single_threaded.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using sennit::base::atomic;
using sennit::base::thread_registration;
using sennit::sys::single_thread_mode;
using how = single_thread_mode::end_of_bias;

// Threads in shared mode. The first two have an id.
struct biased_word : testing::Test {
    single_thread_mode all;
    thread_registration owner, second, without_id;
    biased_word() {
        for (thread_registration* each : {&owner, &second, &without_id})
            all.register_thread(*each, 0);
        all.try_become_exclusive(owner, 0);
        all.try_become_exclusive(second, 0);
    }
    void SetUp() override {
#ifdef SENNIT_NO_LOCK_ELISION
        GTEST_SKIP() << "all words are neutral in this build";
#endif
    }
    // Returns the number of biases that `whose` is given in `requests` requests.
    int given(thread_registration& whose, int requests, unsigned losses, std::int64_t now_ns) {
        int count = 0;
        for (int i = 0; i < requests; ++i) count += all.request_bias(whose, losses, now_ns) != 0;
        return count;
    }
};

TEST_F(biased_word, bias_is_the_id_of_the_thread) {
    EXPECT_EQ(all.request_bias(owner, 0, 0), std::uint32_t{owner.id.load()} << 16);
    EXPECT_EQ(all.request_bias(owner, 0, 0), owner.key.load());
    EXPECT_NE(all.request_bias(second, 0, 0), all.request_bias(owner, 0, 0));
    EXPECT_EQ(all.request_bias(without_id, 0, 0), 0u) << "the thread has not asked for a mode";
}

TEST_F(biased_word, each_loss_makes_bias_four_times_as_rare) {
    EXPECT_EQ(given(owner, 64, 0, 0), 64);
    EXPECT_EQ(given(owner, 64, 1, 0), 16);
    EXPECT_EQ(given(owner, 64, 2, 0), 4);
    EXPECT_EQ(given(owner, 64, 3, 0), 1);
}

TEST_F(biased_word, biases_are_limited_by_number_and_by_time) {
    constexpr std::int64_t ms = 1'000'000;
    EXPECT_EQ(given(owner, 1000, 0, 0), 256);
    EXPECT_EQ(given(second, 1000, 0, ms / 2), 0);
    EXPECT_EQ(given(second, 1000, 0, 3 * ms), 3);
    EXPECT_EQ(given(second, 1000, 0, 10'000 * ms), 256);
}

TEST_F(biased_word, exclusive_thread_is_given_no_bias) {
    all.unregister_thread(second, 0);
    all.unregister_thread(without_id, 0);
    ASSERT_EQ(owner.key.load(), thread_registration::exclusive);
    EXPECT_EQ(all.request_bias(owner, 0, 0), 0u);
}

TEST_F(biased_word, owner_updates_its_words_only) {
    atomic<std::uint32_t> own{all.request_bias(owner, 0, 0)}, neutral{0},
        other{all.request_bias(second, 0, 0)};
    EXPECT_TRUE(owner.update(own, 0u, 1u));
    EXPECT_EQ(own.load(), owner.key.load() | 1);
    EXPECT_FALSE(owner.update(own, 0u, 1u)) << "the word is not as expected";
    EXPECT_TRUE(owner.update(own, 1u, 0u));
    EXPECT_FALSE(owner.update(neutral, 0u, 1u));
    EXPECT_FALSE(owner.update(other, 0u, 1u));
    EXPECT_FALSE(without_id.update(neutral, 0u, 1u));
    EXPECT_EQ(neutral.load(), 0u);
    EXPECT_EQ(owner.busy.load(), 0u);
}

TEST_F(biased_word, another_thread_ends_the_bias) {
    atomic<std::uint32_t> word{all.request_bias(owner, 0, 0)};
    all.end_bias(word, second, how::if_free, 0);
    EXPECT_EQ(word.load(), 0u);
    EXPECT_EQ(owner.key.load() >> 16, owner.id.load()) << "the owner has its key back";
}

TEST_F(biased_word, bias_of_held_spin_lock_stays) {
    const std::uint32_t held = all.request_bias(owner, 0, 0) | 1;
    atomic<std::uint32_t> word{held};
    all.end_bias(word, second, how::if_free, 0);
    EXPECT_EQ(word.load(), held);
}

TEST_F(biased_word, lower_bits_survive_the_end_of_a_bias) {
    atomic<std::uint64_t> word{std::uint64_t{all.request_bias(owner, 0, 0)} << 32 |
                               0x7fff'1234'5678};
    all.end_bias(word, second, how::of_any, 0);
    EXPECT_EQ(word.load(), 0x7fff'1234'5678u);
}

TEST_F(biased_word, owner_keeps_its_bias_unless_it_asks) {
    const std::uint64_t biased = std::uint64_t{all.request_bias(owner, 0, 0)} << 32;
    atomic<std::uint64_t> word{biased};
    all.end_bias(word, owner, how::of_any, 0);
    EXPECT_EQ(word.load(), biased);
    all.end_bias(word, owner, how::also_own, 0);
    EXPECT_EQ(word.load(), 0u);
}

TEST_F(biased_word, exclusive_thread_makes_its_own_word_neutral) {
    atomic<std::uint32_t> word{all.request_bias(owner, 0, 0)};
    all.unregister_thread(second, 0);
    all.unregister_thread(without_id, 0);
    EXPECT_FALSE(owner.update(word, 0u, 1u));
    all.end_bias(word, owner, how::if_free, 0);
    EXPECT_TRUE(owner.update(word, 0u, 1u));
    EXPECT_EQ(word.load(), 1u);
}

TEST_F(biased_word, owner_of_many_lost_words_takes_new_id) {
    const std::uint32_t before = owner.id.load();
    std::array<atomic<std::uint32_t>, 9> words;
    for (auto& each : words) each.store(all.request_bias(owner, 0, 0));
    for (std::size_t i = 0; i < 8; ++i) all.end_bias(words[i], second, how::if_free, 0);
    EXPECT_NE(owner.id.load(), before);
    EXPECT_EQ(owner.key.load(), std::uint32_t{owner.id.load()} << 16);
    EXPECT_FALSE(owner.update(words[8], 0u, 1u)) << "the word has an id without an owner";
    const std::uint64_t barriers = sennit::sys::barrier_count();
    all.end_bias(words[8], owner, how::if_free, 0);
    EXPECT_EQ(words[8].load(), 0u);
    EXPECT_EQ(sennit::sys::barrier_count(), barriers);
}

TEST_F(biased_word, losses_over_a_long_time_leave_the_id) {
    const std::uint32_t before = owner.id.load();
    for (std::int64_t i = 0; i < 40; ++i) {
        atomic<std::uint32_t> word{all.request_bias(owner, 0, i * 2'000'000)};
        all.end_bias(word, second, how::if_free, i * 2'000'000);
    }
    EXPECT_EQ(owner.id.load(), before);
}

TEST_F(biased_word, words_of_sleeping_and_ended_threads_need_no_barrier) {
    atomic<std::uint32_t> one{all.request_bias(owner, 0, 0)}, two{all.request_bias(second, 0, 0)};
    all.unregister_thread(owner, 0);
    all.unregister_thread(second, 0);
    all.release_id(second);
    const std::uint64_t barriers = sennit::sys::barrier_count();
    all.end_bias(one, without_id, how::if_free, 0);
    all.end_bias(two, without_id, how::if_free, 0);
    EXPECT_EQ(one.load() | two.load(), 0u);
    EXPECT_EQ(sennit::sys::barrier_count(), barriers);
}

TEST_F(biased_word, more_threads_than_ids_have_none) {
    std::vector<thread_registration> many(600);
    for (thread_registration& each : many) {
        all.register_thread(each, 0);
        all.try_become_exclusive(each, 0);
    }
    EXPECT_EQ(many.back().id.load(), 0u);
    EXPECT_EQ(all.request_bias(many.back(), 0, 0), 0u);
    all.unregister_thread(many.front(), 0);
    all.release_id(many.front());
    all.try_become_exclusive(many.back(), 0);
    EXPECT_NE(many.back().id.load(), 0u);
    for (thread_registration& each : many)
        if (&each != &many.front()) all.unregister_thread(each, 0);
}

TEST(lock_uses, thread_may_ask_after_32_locks_in_a_row) {
    sennit::base::lock_uses uses;
    int may_ask = 0;
    for (int i = 0; i < 96; ++i) may_ask += uses.count();
    EXPECT_EQ(may_ask, 3);
    for (int i = 0; i < 31; ++i) EXPECT_FALSE(uses.count());
    uses.note_loss(); // The count begins again.
    for (int i = 0; i < 31; ++i) EXPECT_FALSE(uses.count());
    EXPECT_TRUE(uses.count());
}

// ---- on real threads

// Two workers use locks of their own most of the time, and those of the other worker now and then.
TEST(biased_locks, exclude_workers_that_visit_each_other) {
    constexpr int rounds = 20'000, locks = 8;
    struct guarded {
        sennit::mutex mutex;
        sennit::base::spin_lock spin;
        sennit::base::lock_uses uses;
        long by_mutex = 0, by_spin = 0;
    };
    std::array<guarded, 2 * locks> all;
    sennit::runtime two({.workers = 2});
    two.run([&] {
        std::atomic<int> begun{0};
        const auto work = [&](int own) {
            ++begun;
            while (begun < 2) std::this_thread::yield();
            for (int i = 0; i < rounds; ++i) {
                const bool visits = i % 1000 == 0;
                guarded& one =
                    all[static_cast<std::size_t>(((own + visits) % 2) * locks + i % locks)];
                {
                    std::lock_guard guard(one.mutex);
                    ++one.by_mutex;
                }
                one.spin.lock(one.uses);
                ++one.by_spin;
                one.spin.unlock();
            }
        };
        sennit::fiber other([&] { work(1); });
        work(0);
        other.join();
    });
    long by_mutex = 0, by_spin = 0;
    for (const guarded& one : all) {
        by_mutex += one.by_mutex;
        by_spin += one.by_spin;
    }
    EXPECT_EQ(by_mutex, 2 * rounds);
    EXPECT_EQ(by_spin, 2 * rounds);
}

// A thread of the program waits for a mutex that a worker has used alone, and is handed it.
TEST(biased_locks, thread_waits_for_mutex_of_worker) {
    sennit::runtime two({.workers = 2});
    sennit::mutex mutex;
    long count = 0;
    two.run([&] {
        std::atomic<bool> locked{false};
        for (int i = 0; i < 1000; ++i) {
            std::lock_guard guard(mutex);
            ++count;
        }
        mutex.lock();
        std::thread visitor([&] {
            locked = true;
            std::lock_guard guard(mutex);
            ++count;
        });
        while (!locked) std::this_thread::yield();
        ++count;
        mutex.unlock();
        visitor.join();
    });
    EXPECT_EQ(count, 1002);
}

// A fiber locks on one worker and unlocks on another: it yields while a second fiber needs its
// worker.
TEST(biased_locks, fiber_unlocks_on_another_worker) {
    sennit::runtime four({.workers = 4});
    std::vector<sennit::mutex> mutexes(64);
    std::vector<long> counts(64);
    four.run([&] {
        std::vector<sennit::fiber> fibers;
        for (std::size_t f = 0; f < 64; ++f)
            fibers.emplace_back([&, f] {
                for (int i = 0; i < 400; ++i) {
                    const std::size_t at = i % 50 == 0 ? (f + 1) % 64 : f;
                    std::lock_guard guard(mutexes[at]);
                    if (i % 7 == 0) sennit::this_fiber::yield();
                    ++counts[at];
                }
            });
        for (sennit::fiber& each : fibers) each.join();
    });
    long sum = 0;
    for (const long each : counts) sum += each;
    EXPECT_EQ(sum, 64 * 400);
}

} // namespace
