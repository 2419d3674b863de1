// SPDX-License-Identifier: Apache-2.0
// Tests the policies by which a worker decides how long it searches, and whether it shares its
// queue, and the roles of workers that poll for events. No clock and no threads.
#include "core/idle/event_source.hpp"
#include "core/policy/late_look_policy.hpp"
#include "core/policy/search_policy.hpp"
#include "core/policy/share_policy.hpp"

#include <gtest/gtest.h>

namespace {

using sennit::sched::late_look_policy;
using sennit::sched::search_policy;
using sennit::sched::share_policy;
namespace tuning = sennit::sched::tuning;

constexpr std::int64_t us = 1'000;
constexpr std::int64_t whole = 48 * us;

TEST(search_policy, one_long_gap_keeps_whole_search) {
    search_policy policy(whole);
    EXPECT_EQ(policy.search_ns(), whole);
    policy.note_gap(whole + 1);
    EXPECT_EQ(policy.search_ns(), whole);
}

TEST(search_policy, long_gaps_halve_search_down_to_sixteenth) {
    search_policy policy(whole);
    policy.note_gap(2 * whole);
    for (const int part : {2, 4, 8, 16, 16, 16}) {
        policy.note_gap(2 * whole);
        EXPECT_EQ(policy.search_ns(), whole / part);
    }
}

TEST(search_policy, short_gap_restores_whole_search) {
    search_policy policy(whole);
    for (int i = 0; i < 10; ++i) policy.note_gap(2 * whole);
    policy.note_gap(whole);
    EXPECT_EQ(policy.search_ns(), whole);
    policy.note_gap(2 * whole);
    EXPECT_EQ(policy.search_ns(), whole) << "counts long gaps from the last short one";
}

TEST(search_policy, search_time_of_zero_stays_zero) {
    search_policy policy(0);
    EXPECT_EQ(policy.search_ns(), 0);
    policy.note_gap(1);
    EXPECT_EQ(policy.search_ns(), 0);
}

// Returns the number of looks that come at once until the next late one.
unsigned looks_at_once(late_look_policy& policy) {
    unsigned count = 0;
    while (!policy.looks_late()) ++count;
    return count;
}

TEST(late_look_policy, saved_looks_stay_late) {
    late_look_policy policy;
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(looks_at_once(policy), 0u);
        policy.note_saved();
    }
}

TEST(late_look_policy, each_due_look_doubles_looks_at_once) {
    late_look_policy policy;
    for (const unsigned many : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 64u}) {
        policy.note_due();
        EXPECT_EQ(looks_at_once(policy), many);
    }
    policy.note_saved();
    EXPECT_EQ(looks_at_once(policy), 0u);
    policy.note_due();
    EXPECT_EQ(looks_at_once(policy), 1u);
}

// Tasks of 4 us, of which `size` wait. The first call has no estimate, so a call precedes.
struct asked {
    share_policy policy;
    std::uint64_t runs = 0;
    std::int64_t now = 1'000 * us;

    explicit asked(bool runs_dry) {
        (void)policy.should_share(2, runs, nullptr, false, now);
        for (int i = 0; i < 25; ++i) {
            now += 4 * us;
            ++runs;
        }
        if (runs_dry) policy.note_dry();
    }
    bool shares(std::uint32_t size, bool searched) {
        return policy.should_share(size, runs, nullptr, searched, now);
    }
};

TEST(share_policy, worker_without_pause_shares_short_queue) {
    if (tuning::stressed) GTEST_SKIP() << "this build gives both answers in turn";
    EXPECT_TRUE(asked(false).shares(2, false));
}

TEST(share_policy, worker_that_keeps_up_shares_queue_worth_wake_up) {
    if (tuning::stressed) GTEST_SKIP() << "this build gives both answers in turn";
    EXPECT_FALSE(asked(true).shares(2, false));
    EXPECT_FALSE(asked(true).shares(12, false));
    EXPECT_TRUE(asked(true).shares(13, false)) << "52 us";
}

TEST(share_policy, worker_that_keeps_up_shares_with_searcher) {
    if (tuning::stressed) GTEST_SKIP() << "this build gives both answers in turn";
    EXPECT_TRUE(asked(true).shares(2, true));
}

TEST(share_policy, pause_counts_until_next_request) {
    if (tuning::stressed) GTEST_SKIP() << "this build gives both answers in turn";
    asked policy(true);
    EXPECT_FALSE(policy.shares(2, false));
    policy.now += 100 * us;
    policy.runs += 25;
    EXPECT_TRUE(policy.shares(2, false));
}

TEST(share_policy, queue_is_shared_after_trial_time) {
    if (tuning::stressed) GTEST_SKIP() << "this build gives both answers in turn";
    asked policy(true);
    policy.now += tuning::trial_ns;
    policy.runs += static_cast<std::uint64_t>(tuning::trial_ns) / (4 * us);
    EXPECT_TRUE(policy.shares(2, false));
}

// An event source without events.
struct quiet_source final : sennit::sched::event_source {
    void wait(sennit::sched::caught_events&, std::int64_t) noexcept override {}
    void wake() noexcept override {}
    void take(sennit::sched::caught_events&) noexcept override {}
    bool pending() noexcept override { return false; }
    void deliver(sennit::sched::caught_events&) noexcept override {}
    bool awaited() noexcept override { return false; }
};

TEST(event_source, one_worker_is_poller) {
    quiet_source source;
    EXPECT_FALSE(source.has_poller());
    EXPECT_TRUE(source.try_become_poller(3));
    EXPECT_FALSE(source.try_become_poller(4));
    EXPECT_EQ(source.poller(), 3u);
    source.release_poller();
    EXPECT_FALSE(source.has_poller());
    EXPECT_TRUE(source.try_become_poller(4));
}

TEST(event_source, worker_that_delivers_is_busy_poller_until_it_parks) {
    quiet_source source;
    EXPECT_FALSE(source.has_busy_poller_beside(0));
    source.note_delivery(1);
    EXPECT_TRUE(source.has_busy_poller_beside(0));
    EXPECT_FALSE(source.has_busy_poller_beside(1)) << "polls itself";
    source.note_park(0);
    EXPECT_TRUE(source.has_busy_poller_beside(0)) << "another worker has parked";
    source.note_delivery(0);
    EXPECT_TRUE(source.has_busy_poller_beside(1));
    source.note_park(0);
    EXPECT_FALSE(source.has_busy_poller_beside(1));
}

} // namespace
