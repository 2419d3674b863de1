// SPDX-License-Identifier: Apache-2.0
// Bugs of waits and of fiber-local state that a reading has found, with the smallest program of
// each.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace waiting_review {
namespace {

using namespace std::chrono_literals;

// A limit that was over when the wait began took precedence over an earlier cancellation.
TEST(regress, short_limit_in_a_cancelled_nursery_is_cancelled) {
    sennit::runtime two({.workers = 2});
    int fell_through = 0;
    two.run([&] {
        sennit::nursery all;
        all.start([&] {
            all.cancel();
            sennit::event never;
            for (int i = 0; i < 20'000; ++i) try {
                    (void)never.wait_for(1ns);
                    ++fell_through;
                } catch (const sennit::cancelled&) {
                }
        });
        all.join();
    });
    EXPECT_EQ(fell_through, 0);
}

// The captures of a nursery's child were destroyed outside the child: its fiber_locals belonged to
// another strand, and leaked.
sennit::fiber_local<std::string>& current() {
    static sennit::fiber_local<std::string> one;
    return one;
}
struct tells_at_its_end {
    std::vector<std::string>* seen = nullptr;
    explicit tells_at_its_end(std::vector<std::string>& to) : seen(&to) {}
    tells_at_its_end(tells_at_its_end&& other) noexcept
        : seen(std::exchange(other.seen, nullptr)) {}
    ~tells_at_its_end() {
        if (!seen) return;
        seen->push_back(*current());
        *current() = "left over";
    }
};
TEST(regress, child_destroys_its_own_closure) {
    sennit::runtime one({.workers = 1});
    std::vector<std::string> seen;
    one.run([&] {
        sennit::nursery all;
        for (int i = 0; i < 3; ++i)
            all.start(
                [i, last = tells_at_its_end(seen)] { *current() = "user " + std::to_string(i); });
        all.join();
    });
    ASSERT_EQ(seen.size(), 3U);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<std::string>{"user 0", "user 1", "user 2"}));
}

// The cancelling thread used stack in proportion to the depth of the scopes.
TEST(regress, deeply_nested_nurseries_are_cancelled_from_a_small_stack) {
    sennit::runtime one({.workers = 1, .stack_size = 64 * 1024});
    int cancelled = 0;
    constexpr int depth = 3000;
    one.run([&] {
        sennit::event deepest;
        struct level {
            static void go(int left, sennit::event& reached, int& count) {
                try {
                    sennit::nursery inner;
                    if (left == 0) {
                        reached.set();
                        sennit::event().wait();
                    }
                    inner.start([&, left] { go(left - 1, reached, count); });
                    inner.join();
                } catch (const sennit::cancelled&) {
                    ++count;
                    throw;
                }
            }
        };
        sennit::nursery all;
        all.start([&] { level::go(depth, deepest, cancelled); });
        deepest.wait();
        all.cancel();
        all.join();
    });
    EXPECT_EQ(cancelled, depth + 1);
}

// A type with its own `operator&`.
struct shy {
    int value = 0;
    shy* operator&() { return nullptr; }
    void run() { value = 3; }
};
struct shy_monitor : sennit::monitor {
    int value = 0;
    shy_monitor* operator&() { return nullptr; }
    void run() {}
};
TEST(regress, objects_with_an_address_operator_are_kept) {
    sennit::run([] {
        sennit::fiber_local<shy> local;
        local->value = 3;
        EXPECT_EQ(local->value, 3);
        EXPECT_TRUE(local.has_value());
        sennit::monitored<shy> guarded;
        guarded->run();
        EXPECT_EQ(guarded->value, 3);
        sennit::active<shy_monitor> object;
        EXPECT_EQ(object->value, 0);
        sennit::channel<shy> values(1);
        values.push(shy{4});
        values.close();
        int sum = 0;
        for (auto at = values.begin(); at != values.end(); ++at) sum += at->value;
        EXPECT_EQ(sum, 4);
    });
}

// The objects exist before any code runs, like those of std.
constinit sennit::latch early_latch(1);
constinit sennit::counting_semaphore<3> early_semaphore(2);
constinit sennit::barrier<> early_barrier(1);
constinit sennit::event early_event;
TEST(regress, latches_semaphores_barriers_and_events_are_constant_initialized) {
    early_latch.count_down();
    EXPECT_TRUE(early_latch.try_wait());
    EXPECT_TRUE(early_semaphore.try_acquire());
    early_barrier.arrive_and_wait();
    early_event.set();
    EXPECT_TRUE(early_event.try_wait());
}

using regress_death = testing::Test;
TEST(regress_death, impossible_counts_end_the_program_with_a_message) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(sennit::binary_semaphore(-1), "fewer than 0 tokens, or with more than max");
    EXPECT_DEATH(sennit::binary_semaphore(2), "fewer than 0 tokens, or with more than max");
    EXPECT_DEATH(sennit::latch(-1), "a latch was made with a negative count");
    EXPECT_DEATH(sennit::barrier<>(-1), "a barrier was made with a negative count");
    EXPECT_DEATH((void)sennit::barrier<>(1).arrive(0), "a count below 1");
}

} // namespace
} // namespace waiting_review
