// SPDX-License-Identifier: Apache-2.0
// Tests the operations of base::atomic over std::atomic, or over the simulated atomics where
// SENNIT_SIMULATED_ATOMICS selects them.
#include "sennit/detail/base/atomic.hpp"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

namespace {

using sennit::base::atomic;

#ifdef SENNIT_SIMULATED_ATOMICS
thread_local int hook_calls = 0;
#endif

// Calls `operation` and returns the number of times that it reached the hook. The result is always
// 1 over the real atomics, which have no hook.
template <class F>
int hooks_of(F operation) {
#ifdef SENNIT_SIMULATED_ATOMICS
    const int before = hook_calls;
    operation();
    return hook_calls - before;
#else
    operation();
    return 1;
#endif
}

} // namespace

#ifdef SENNIT_SIMULATED_ATOMICS
extern "C" void sennit_sim_point() noexcept {
    ++hook_calls;
}
#endif

TEST(atomic, constructor_sets_zero_or_given_value) {
    EXPECT_EQ(atomic<int>{}.load(), 0);
    EXPECT_EQ(atomic<int>{7}.load(), 7);
}

TEST(atomic, every_load_returns_last_stored_value) {
    atomic<std::uint64_t> word;
    word.store(1);
    EXPECT_EQ(word.load(), 1U);
    word.store_rel(2);
    EXPECT_EQ(word.load_acq(), 2U);
    word.store_rlx(3);
    EXPECT_EQ(word.load_rlx(), 3U);
}

TEST(atomic, every_exchange_returns_old_value_and_stores_new_one) {
    atomic<int> word{1};
    EXPECT_EQ(word.exchange(2), 1);
    EXPECT_EQ(word.exchange_acq(3), 2);
    EXPECT_EQ(word.exchange_acq_rel(4), 3);
    EXPECT_EQ(word.load(), 4);
}

TEST(atomic, every_cas_replaces_only_expected_value_and_reports_actual_one) {
    const auto check = [](auto cas) {
        atomic<int> word{5};
        int expected = 4;
        EXPECT_FALSE(cas(word, expected, 9));
        EXPECT_EQ(expected, 5);
        EXPECT_EQ(word.load(), 5);
        EXPECT_TRUE(cas(word, expected, 9));
        EXPECT_EQ(word.load(), 9);
    };
    check([](auto& word, int& expected, int desired) { return word.cas(expected, desired); });
    check([](auto& word, int& expected, int desired) { return word.cas_acq(expected, desired); });
    check([](auto& word, int& expected, int desired) { return word.cas_rel(expected, desired); });
    check([](auto& word, int& expected, int desired) { return word.cas_rlx(expected, desired); });
    check(
        [](auto& word, int& expected, int desired) { return word.cas_acq_rel(expected, desired); });
}

TEST(atomic, every_fetch_returns_old_value_and_changes_word) {
    atomic<unsigned> word{8};
    EXPECT_EQ(word.fetch_add(4), 8U);
    EXPECT_EQ(word.fetch_add_rlx(1), 12U);
    EXPECT_EQ(word.fetch_sub(2), 13U);
    EXPECT_EQ(word.fetch_sub_acq_rel(1), 11U);
    EXPECT_EQ(word.fetch_or(5), 10U);
    EXPECT_EQ(word.fetch_and(6), 15U);
    EXPECT_EQ(word.load(), 6U);
}

TEST(atomic, futex_address_points_to_value) {
    const atomic<std::uint32_t> word{0xC0FFEE};
    std::uint32_t seen = 0;
    std::memcpy(&seen, word.futex_address(), sizeof seen);
    EXPECT_EQ(seen, 0xC0FFEEU);
}

TEST(atomic, every_operation_calls_hook_once) {
    atomic<int> word;
    int expected = 0;
    EXPECT_EQ(hooks_of([&] { static_cast<void>(word.load()); }), 1);
    EXPECT_EQ(hooks_of([&] { static_cast<void>(word.load_acq()); }), 1);
    EXPECT_EQ(hooks_of([&] { static_cast<void>(word.load_rlx()); }), 1);
    EXPECT_EQ(hooks_of([&] { word.store(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.store_rel(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.store_rlx(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.exchange(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.exchange_acq(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.exchange_acq_rel(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.cas(expected, 0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.cas_acq(expected, 0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.cas_rel(expected, 0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.cas_rlx(expected, 0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.cas_acq_rel(expected, 0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.fetch_add(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.fetch_sub(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.fetch_or(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.fetch_and(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.fetch_add_rlx(0); }), 1);
    EXPECT_EQ(hooks_of([&] { word.fetch_sub_acq_rel(0); }), 1);
    EXPECT_EQ(hooks_of([] { sennit::base::compiler_barrier(); }), 1);
}
