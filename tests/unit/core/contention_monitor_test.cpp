// SPDX-License-Identifier: Apache-2.0
// Tests when a worker tries to keep work for itself that it shares with other workers, and when it
// stops trying.
#include "core/policy/contention_monitor.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sennit::sched {
namespace {

constexpr std::int64_t often_ns =
    tuning::contentions_per_check * tuning::contention_ns / 2; // The time between two looks.
constexpr std::int64_t seldom_ns = tuning::contentions_per_check * tuning::contention_ns * 2;

// One worker at one channel. A value passes through the channel every `each_ns`.
struct one_channel {
    contention_monitor met;
    const void* place = &met;
    std::int64_t now_ns = 1'000'000'000;
    std::uint64_t values = 0;

    bool look_after(std::int64_t ns, std::int64_t each_ns) {
        now_ns += ns;
        values += static_cast<std::uint64_t>(ns / each_ns);
        return met.should_consolidate(place, values, now_ns);
    }
    // Returns whether the second look starts the first trial.
    bool tries_at(std::int64_t each_ns) {
        (void)look_after(often_ns, each_ns);
        return look_after(often_ns, each_ns);
    }
};

TEST(contention_monitor, monitor_looks_once_per_contentions_per_check) {
    contention_monitor met;
    for (int round = 0; round < 3; ++round) {
        for (unsigned i = 1; i < tuning::contentions_per_check; ++i) EXPECT_FALSE(met.note());
        EXPECT_TRUE(met.note());
    }
}

TEST(contention_monitor, constant_contention_starts_trial) {
    one_channel it;
    EXPECT_FALSE(it.look_after(often_ns, 100)) << "a single look cannot measure time";
    EXPECT_TRUE(it.look_after(often_ns, 100));
}

TEST(contention_monitor, rare_contention_starts_no_trial) {
    one_channel it;
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(it.look_after(seldom_ns, 100));
}

TEST(contention_monitor, monitor_waits_for_end_of_trial) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    for (std::int64_t past = often_ns; past < tuning::trial_ns; past += often_ns)
        EXPECT_FALSE(it.look_after(often_ns, 10));
}

TEST(contention_monitor, successful_trial_is_repeated) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(it.look_after(tuning::trial_ns, 10))
            << "the trial ends, and the workers share again";
        EXPECT_TRUE(it.look_after(often_ns, 100));
    }
}

TEST(contention_monitor, failed_trial_is_not_repeated_for_some_time) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    EXPECT_FALSE(it.look_after(tuning::trial_ns, 150));
    for (std::int64_t past = 2 * often_ns; past < tuning::apart_ns; past += often_ns)
        ASSERT_FALSE(it.look_after(often_ns, 100)) << past;
    bool again = false;
    for (int i = 0; i < 4 && !again; ++i) again = it.look_after(often_ns, 100);
    EXPECT_TRUE(again) << "the workload may have changed";
}

TEST(contention_monitor, trial_that_ended_long_ago_is_not_judged) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    EXPECT_FALSE(it.look_after(10 * tuning::trial_ns, 1'000))
        << "the worker did something else for most of the time";
    EXPECT_TRUE(it.look_after(often_ns, 100));
}

TEST(contention_monitor, monitor_watches_one_place_at_a_time) {
    one_channel it;
    const int other = 0;
    (void)it.look_after(often_ns, 100);
    EXPECT_FALSE(it.met.should_consolidate(&other, 5, it.now_ns + often_ns / 2));
    EXPECT_TRUE(it.look_after(often_ns, 100))
        << "the look at the other place kept the measurement of the first";

    it.now_ns += 2 * tuning::trial_ns; // No contention was seen at the first place since then.
    EXPECT_FALSE(it.met.should_consolidate(&other, 10, it.now_ns));
    EXPECT_TRUE(it.met.should_consolidate(&other, 20, it.now_ns + often_ns));
}

TEST(contention_monitor, new_channel_in_reused_memory_resets_monitor) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    it.values = 0;
    EXPECT_FALSE(it.met.should_consolidate(it.place, 0, it.now_ns += often_ns));
    EXPECT_TRUE(it.look_after(often_ns, 100));
}

} // namespace
} // namespace sennit::sched
