// SPDX-License-Identifier: Apache-2.0
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>

namespace {

std::atomic<long> alive{0};
struct large { // an object that does not fit a slot
    long values[10] = {};
    large() { ++alive; }
    large(const large&) { ++alive; }
    large(large&&) noexcept { ++alive; }
    large& operator=(const large&) = default;
    ~large() { --alive; }
};

// Lets the owner publish its forks, and waits until a thief runs one of them.
void until(const std::atomic<bool>& flag) {
    while (!flag) sennit::checkpoint();
}

template <class T>
[[gnu::noinline]] T first_value_of_a_new_local() {
    sennit::fiber_local<T> local; // lies at an equal address in each call
    T seen = local.get();
    local.get() = T(7);
    return seen;
}

// A fiber_local took the value that an earlier fiber_local at its address had left in the fiber,
// even a value of another type.
TEST(regress, new_fiber_local_at_an_old_address_starts_with_a_new_value) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        EXPECT_EQ(first_value_of_a_new_local<long>(), 0);
        EXPECT_EQ(first_value_of_a_new_local<long>(), 0);
        EXPECT_EQ(first_value_of_a_new_local<double>(), 0.0);
    });
}

// `reduce` threw while the rest of the indices was a fork. It did not wait for the fork, and the
// thief used dead frames.
TEST(regress, reduction_that_throws_waits_for_the_indices_that_run) {
    sennit::runtime runtime({.workers = 2});
    for (int round = 0; round < 200; ++round)
        runtime.run([] {
            std::atomic<int> inside{0};
            std::atomic<bool> started{false};
            EXPECT_THROW(sennit::fork_reduce(
                             4, 0L, [](long a, long b) -> long { return b == 7 ? throw 1 : a + b; },
                             [&](std::size_t i) -> long {
                                 if (i == 0) {
                                     until(started);
                                     return 7;
                                 }
                                 ++inside;
                                 started = true;
                                 for (int k = 0; k < 100; ++k) sennit::sched::yield();
                                 --inside;
                                 return 1;
                             }),
                         int);
            ASSERT_EQ(inside, 0);
        });
}

// The first callable threw while another worker had made a result that is too large for a slot. The
// result was never destroyed.
TEST(regress, large_result_of_a_stolen_child_is_destroyed_when_the_first_throws) {
    sennit::runtime runtime({.workers = 2});
    for (int round = 0; round < 100; ++round) {
        std::atomic<bool> started{false};
        runtime.run([&] {
            EXPECT_THROW(sennit::fork_join(
                             [&]() -> int {
                                 until(started);
                                 throw 1;
                             },
                             [&] {
                                 started = true;
                                 return large{};
                             }),
                         int);
        });
        ASSERT_EQ(alive, 0);
    }
}

TEST(regress, large_part_of_a_stolen_reduction_is_destroyed_when_the_first_throws) {
    sennit::runtime runtime({.workers = 2});
    for (int round = 0; round < 100; ++round) {
        std::atomic<bool> started{false};
        runtime.run([&] {
            EXPECT_THROW(sennit::fork_reduce(
                             3, large{}, [](large a, large) { return a; },
                             [&](std::size_t i) -> large {
                                 if (i == 0) {
                                     until(started);
                                     throw 1;
                                 }
                                 started = true;
                                 return large{};
                             }),
                         int);
        });
        ASSERT_EQ(alive, 0);
    }
}

// Stolen children that spawn siblings read a word that the owner writes (found by ThreadSanitizer).
TEST(regress, siblings_are_spawned_by_stolen_children_while_the_owner_joins) {
    sennit::runtime runtime({.workers = 3});
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> ran{0};
        runtime.run([&] {
            sennit::scope children;
            for (int i = 0; i < 50; ++i)
                children.spawn([&] {
                    ++ran;
                    children.spawn([&] { ++ran; });
                });
            children.join();
        });
        ASSERT_EQ(ran, 100);
    }
}

} // namespace
