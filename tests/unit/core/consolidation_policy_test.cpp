// SPDX-License-Identifier: Apache-2.0
// Tests when a worker tries to gather the tasks that communicate, which result of a trial it keeps,
// and how long.
#include "core/policy/consolidation_policy.hpp"
#include "core/worker/consolidation.hpp"

#include <cstdint>
#include <gtest/gtest.h>

// Builds that provoke rare interleavings have other constants, and give both answers alternately.
#ifndef SENNIT_STRESS

namespace sennit::sched {
namespace {

using action = consolidation_policy::action;
constexpr std::int64_t us = 1'000, ms = 1'000'000;
constexpr std::uint16_t mine = 1, other = 2;

// A worker whose window has just begun, at a tick of the coarse clock.
struct watching_worker {
    consolidation_policy policy;
    std::int64_t now_ns = 1'000 * ms;

    watching_worker() { (void)communicates(0, 0); }
    bool communicates(std::uint64_t crossings, std::uint64_t items) {
        return policy.communicates(crossings, items, now_ns, now_ns);
    }
};

TEST(consolidation_policy, window_ends_after_crossings_or_a_tick) {
    watching_worker it;
    EXPECT_FALSE(it.policy.window_ends(tuning::crossings_per_window - 1, it.now_ns));
    EXPECT_TRUE(it.policy.window_ends(tuning::crossings_per_window, it.now_ns));
    EXPECT_TRUE(it.policy.window_ends(0, it.now_ns + 1));
}

TEST(consolidation_policy, short_tasks_that_cross_often_communicate) {
    watching_worker it;
    it.now_ns += 100 * us;
    EXPECT_TRUE(it.communicates(tuning::crossings_per_window, 100));
}

TEST(consolidation_policy, tasks_that_cross_seldom_do_not_communicate) {
    watching_worker it;
    it.now_ns += 100 * us;
    EXPECT_FALSE(it.communicates(tuning::crossings_per_window,
                                 tuning::crossings_per_window * tuning::items_per_crossing + 1));
}

TEST(consolidation_policy, few_crossings_in_a_tick_are_forgotten) {
    watching_worker it;
    it.now_ns += 100 * us;
    EXPECT_FALSE(it.communicates(tuning::crossings_per_window - 1, 100));
    it.now_ns += 100 * us;
    EXPECT_FALSE(it.communicates(tuning::crossings_per_window, 200));
}

TEST(consolidation_policy, long_tasks_do_not_communicate) {
    watching_worker it;
    it.now_ns += 100 * tuning::short_item_ns;
    EXPECT_FALSE(it.communicates(tuning::crossings_per_window, 100));
}

TEST(consolidation_policy, idle_time_is_no_length_of_tasks) {
    watching_worker it;
    it.now_ns += 100 * ms;
    it.policy.exclude(100 * ms - 100 * us);
    EXPECT_TRUE(it.communicates(tuning::crossings_per_window, 100));
}

// A worker in a trial. All workers finish `per_ms` work items in a millisecond.
struct trial {
    consolidation_policy policy;
    std::int64_t now_ns = 1'000 * ms;
    std::uint64_t items = 0;
    unsigned reads = 0; // How often the policy has asked for the items.

    explicit trial(std::uint64_t apart) {
        policy.measure(items, now_ns);
        EXPECT_EQ(after(tuning::measuring_ns, apart), action::begin_hosting);
        EXPECT_EQ(after(tuning::settling_ns, apart), action::gather);
    }
    action after(std::int64_t ns, std::uint64_t per_ms) {
        now_ns += ns;
        items += per_ms * static_cast<std::uint64_t>(ns) / ms;
        return policy.advance([this] { return ++reads, items; }, now_ns);
    }
    // The first action that ends the trial, at a constant rate.
    action result_at(std::uint64_t per_ms) {
        action next = action::gather;
        while (next == action::gather) next = after(tuning::trial_look_ns, per_ms);
        return next;
    }
};

TEST(consolidation_policy, worker_measures_before_it_gathers) {
    const auto no_work = [] { return std::uint64_t{0}; };
    consolidation_policy policy;
    policy.measure(0, 0);
    EXPECT_FALSE(policy.watching());
    EXPECT_EQ(policy.advance(no_work, tuning::measuring_ns / 2), action::wait);
    EXPECT_EQ(policy.advance(no_work, tuning::measuring_ns - 1), action::wait);
    EXPECT_EQ(policy.advance(no_work, tuning::measuring_ns), action::begin_hosting);
}

TEST(consolidation_policy, clearly_more_work_together_is_kept) {
    EXPECT_EQ(trial(1'000'000).result_at(1'200'000), action::keep);
}

TEST(consolidation_policy, as_much_work_together_is_not_kept) {
    EXPECT_EQ(trial(1'000'000).result_at(1'000'000), action::fail);
    EXPECT_EQ(trial(1'000'000).result_at(100'000), action::fail);
}

TEST(consolidation_policy, hopeless_trial_ends_sooner) {
    trial equal(1'000'000), hopeless(1'000'000);
    (void)equal.result_at(1'000'000);
    (void)hopeless.result_at(100'000);
    EXPECT_LT(hopeless.now_ns, equal.now_ns);
}

TEST(consolidation_policy, trial_goes_on_while_rate_rises) {
    trial it(1'000'000);
    action next = action::gather;
    for (std::uint64_t rate = 100'000; next == action::gather; rate = rate * 3 / 2)
        next = it.after(tuning::trial_look_ns, rate);
    EXPECT_EQ(next, action::keep);
}

TEST(consolidation_policy, rate_that_rises_forever_ends_the_trial) {
    trial it(1'000'000'000);
    unsigned looks = 0;
    for (std::uint64_t rate = 1'000; it.after(tuning::trial_look_ns, rate) == action::gather;
         rate = rate * 3 / 2)
        ++looks;
    EXPECT_LT(looks, tuning::longest_trial_looks);
}

TEST(consolidation_policy, work_of_all_workers_is_read_at_the_looks_only) {
    trial it(1'000'000);
    const unsigned before = it.reads;
    for (int i = 0; i < 4; ++i) (void)it.after(tuning::trial_look_ns / 5, 1'000'000);
    EXPECT_EQ(it.reads, before);
    (void)it.after(tuning::trial_look_ns / 5, 1'000'000);
    EXPECT_EQ(it.reads, before + 1);
}

TEST(consolidation_policy, idle_time_in_a_trial_counts) {
    trial it(1'000'000);
    it.policy.exclude(1'000 * ms);
    EXPECT_EQ(it.result_at(900'000), action::fail);
}

// A host that has kept the tasks, for 20 ms.
struct host : trial {
    host() : trial(1'000'000) {
        EXPECT_EQ(result_at(2'000'000), action::keep);
        policy.host_until(now_ns + 20 * ms, items, now_ns);
    }
};

TEST(consolidation_policy, host_ends_when_time_is_over) {
    host it;
    for (int past = 1; past < 20; ++past) ASSERT_EQ(it.after(ms, 2'000'000), action::gather);
    EXPECT_EQ(it.after(ms, 2'000'000), action::end);
}

TEST(consolidation_policy, host_ends_when_less_work_is_done_than_apart) {
    host it;
    EXPECT_EQ(it.after(ms, 950'000), action::gather);
    EXPECT_EQ(it.after(ms, 850'000), action::fail);
}

TEST(consolidation_policy, host_gathers_less_often_while_it_finds_nothing) {
    consolidation_policy policy;
    std::int64_t now_ns = 0, gap_ns = 0;
    const auto gather = [&](std::uint32_t found) {
        policy.gathered(found, now_ns);
        const std::int64_t before_ns = now_ns;
        while (!policy.gathers_at(now_ns)) now_ns += us;
        gap_ns = now_ns - before_ns;
    };
    gather(1);
    EXPECT_EQ(gap_ns, tuning::shortest_gathering_gap_ns);
    for (int i = 0; i < 20; ++i) gather(0);
    EXPECT_EQ(gap_ns, tuning::longest_gathering_gap_ns);
    gather(1);
    EXPECT_EQ(gap_ns, tuning::shortest_gathering_gap_ns);
}

// ---- the claim

TEST(consolidation, one_worker_claims_at_a_time) {
    consolidation shared(true);
    ASSERT_TRUE(shared.try_claim(mine, 0));
    EXPECT_FALSE(shared.try_claim(other, 0));
    EXPECT_FALSE(shared.is_host(mine));
    shared.begin_hosting(mine);
    EXPECT_TRUE(shared.is_host(mine));
    EXPECT_FALSE(shared.is_host(other));
    shared.release();
    EXPECT_FALSE(shared.is_host(mine));
    EXPECT_TRUE(shared.try_claim(other, 0));
}

TEST(consolidation, thief_of_host_ends_hosting_but_not_claim) {
    consolidation shared(true);
    ASSERT_TRUE(shared.try_claim(mine, 0));
    shared.begin_hosting(mine);
    shared.abandon(other);
    EXPECT_TRUE(shared.is_host(mine));
    shared.abandon(mine);
    EXPECT_FALSE(shared.is_host(mine));
    EXPECT_FALSE(shared.try_claim(other, 0));
}

TEST(consolidation, failures_in_a_row_double_the_pause) {
    consolidation shared(true);
    std::int64_t now_ns = 1'000 * ms;
    for (std::int64_t pause_ns = tuning::first_pause_ns; pause_ns < tuning::longest_pause_ns;
         pause_ns *= 2) {
        ASSERT_TRUE(shared.try_claim(mine, now_ns));
        shared.fail(now_ns);
        shared.release();
        EXPECT_FALSE(shared.try_claim(mine, now_ns + pause_ns - 1));
        now_ns += pause_ns;
    }
    now_ns += 10'000 * ms;
    ASSERT_TRUE(shared.try_claim(mine, now_ns));
    shared.fail(now_ns);
    shared.release();
    EXPECT_TRUE(shared.try_claim(mine, now_ns + tuning::first_pause_ns));
}

TEST(consolidation, successes_in_a_row_double_the_hosting) {
    consolidation shared(true);
    std::int64_t now_ns = 1'000 * ms;
    std::int64_t expected_ns = tuning::first_hosting_ns;
    for (int i = 0; i < 20; ++i) {
        const std::int64_t length_ns = shared.keep(now_ns);
        EXPECT_EQ(length_ns, expected_ns);
        now_ns += length_ns + ms;
        expected_ns = std::min(2 * expected_ns, tuning::longest_hosting_ns);
    }
    EXPECT_EQ(shared.keep(now_ns + 10'000 * ms), tuning::first_hosting_ns);
    EXPECT_EQ(shared.kept(), 21u);
}

} // namespace
} // namespace sennit::sched

#endif
