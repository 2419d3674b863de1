// SPDX-License-Identifier: Apache-2.0
// When a worker tries to have for itself what it shares with others, and when it leaves that be.
#include "core/policy/contention_monitor.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sennit::sched {
namespace {

constexpr std::int64_t often_ns =
    tuning::contentions_per_check * tuning::contention_ns / 2; // between two looks
constexpr std::int64_t seldom_ns = tuning::contentions_per_check * tuning::contention_ns * 2;

// One worker at one channel, through which a value goes each so many ns.
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
    // Up to the first trial.
    bool tries_at(std::int64_t each_ns) {
        (void)look_after(often_ns, each_ns);
        return look_after(often_ns, each_ns);
    }
};

TEST(contention_monitor, looks_once_in_so_many) {
    contention_monitor met;
    for (int round = 0; round < 3; ++round) {
        for (unsigned i = 1; i < tuning::contentions_per_check; ++i) EXPECT_FALSE(met.note());
        EXPECT_TRUE(met.note());
    }
}

TEST(contention_monitor, tries_where_it_meets_others_all_the_time) {
    one_channel it;
    EXPECT_FALSE(it.look_after(often_ns, 100)) << "one look alone says nothing about time";
    EXPECT_TRUE(it.look_after(often_ns, 100));
}

TEST(contention_monitor, does_not_try_where_it_meets_others_now_and_then) {
    one_channel it;
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(it.look_after(seldom_ns, 100));
}

TEST(contention_monitor, says_nothing_until_the_trial_is_over) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    for (std::int64_t past = often_ns; past < tuning::trial_ns; past += often_ns)
        EXPECT_FALSE(it.look_after(often_ns, 10));
}

TEST(contention_monitor, goes_on_with_what_was_faster) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(it.look_after(tuning::trial_ns, 10)) << "the end of a trial, apart again";
        EXPECT_TRUE(it.look_after(often_ns, 100));
    }
}

TEST(contention_monitor, leaves_be_what_was_slower_for_some_time) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    EXPECT_FALSE(it.look_after(tuning::trial_ns, 150));
    for (std::int64_t past = 2 * often_ns; past < tuning::apart_ns; past += often_ns)
        ASSERT_FALSE(it.look_after(often_ns, 100)) << past;
    bool again = false;
    for (int i = 0; i < 4 && !again; ++i) again = it.look_after(often_ns, 100);
    EXPECT_TRUE(again) << "what they do may have changed";
}

TEST(contention_monitor, judges_no_trial_that_ended_long_ago) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    EXPECT_FALSE(it.look_after(10 * tuning::trial_ns, 1'000))
        << "most of the time it did something else";
    EXPECT_TRUE(it.look_after(often_ns, 100));
}

TEST(contention_monitor, watches_one_place_at_a_time) {
    one_channel it;
    const int other = 0;
    (void)it.look_after(often_ns, 100);
    EXPECT_FALSE(it.met.should_consolidate(&other, 5, it.now_ns + often_ns / 2));
    EXPECT_TRUE(it.look_after(often_ns, 100)) << "two looks, in the time of two";

    it.now_ns += 2 * tuning::trial_ns; // nobody was met at the first one since
    EXPECT_FALSE(it.met.should_consolidate(&other, 10, it.now_ns));
    EXPECT_TRUE(it.met.should_consolidate(&other, 20, it.now_ns + often_ns));
}

TEST(contention_monitor, begins_anew_with_a_new_channel_in_the_memory_of_the_last_one) {
    one_channel it;
    ASSERT_TRUE(it.tries_at(100));
    it.values = 0;
    EXPECT_FALSE(it.met.should_consolidate(it.place, 0, it.now_ns += often_ns));
    EXPECT_TRUE(it.look_after(often_ns, 100));
}

} // namespace
} // namespace sennit::sched
