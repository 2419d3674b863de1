// SPDX-License-Identifier: Apache-2.0
// Incarnations of one mailbox: src/actors/runtime/incarnation_counter.hpp.
#include "actors/runtime/incarnation_counter.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace mailbox_tests {
namespace {

using sennit::sched::address;
using sennit::sched::incarnation_counter;

TEST(incarnation_counter, is_alive_from_the_beginning_to_the_end_of_an_incarnation) {
    incarnation_counter of(7);
    EXPECT_FALSE(of.is_alive());
    of.begin();
    EXPECT_TRUE(of.is_alive());
    of.end();
    EXPECT_FALSE(of.is_alive());
    of.begin();
    EXPECT_TRUE(of.is_alive());
}

TEST(incarnation_counter, gives_each_incarnation_another_address) {
    incarnation_counter of(7);
    const std::uint32_t promised = of.next();
    of.begin();
    const address first = of.self();
    EXPECT_EQ(first, (address{7, promised}));
    EXPECT_FALSE(of.ended(first));
    of.end();
    EXPECT_TRUE(of.ended(first));
    of.begin();
    const address second = of.self();
    EXPECT_NE(first, second);
    EXPECT_TRUE(of.ended(first));
    EXPECT_FALSE(of.ended(second));
}

TEST(incarnation_counter, keeps_the_address_of_the_batch_after_the_end_of_its_incarnation) {
    incarnation_counter of(7);
    of.begin();
    const address alive = of.self();
    EXPECT_EQ(of.batch_address(), alive);
    of.end();
    EXPECT_EQ(of.batch_address(), alive);
    of.begin();
    EXPECT_EQ(of.batch_address(), of.self());
}

TEST(incarnation_counter, makes_the_address_of_a_skipped_incarnation_dead_for_ever) {
    incarnation_counter of(7);
    const address skipped{7, of.next()};
    of.skip();
    EXPECT_FALSE(of.is_alive());
    EXPECT_TRUE(of.ended(skipped));
    of.begin();
    EXPECT_TRUE(of.ended(skipped));
    EXPECT_NE(of.self(), skipped);
}

TEST(incarnation_counter, says_that_an_incarnation_is_over_only_after_its_end) {
    incarnation_counter of(7);
    const address first{7, of.next()};
    EXPECT_FALSE(of.is_over(first)) << "it is about to begin";
    of.begin();
    EXPECT_FALSE(of.is_over(first));
    of.end();
    EXPECT_TRUE(of.is_over(first));
    const address second{7, of.next()};
    EXPECT_FALSE(of.is_over(second));
    of.skip();
    EXPECT_TRUE(of.is_over(second));
}

TEST(incarnation_counter, abandons_only_an_incarnation_that_is_alive) {
    incarnation_counter of(7);
    of.abandon();
    EXPECT_EQ(of.generation(), 0u);
    of.begin();
    of.abandon();
    EXPECT_EQ(of.generation(), 2u);
    EXPECT_FALSE(of.is_alive());
}

TEST(incarnation_counter, is_exhausted_only_near_the_last_generation) {
    incarnation_counter of(7);
    EXPECT_FALSE(of.exhausted());
    for (int n = 0; n < 1000; ++n) of.skip();
    EXPECT_FALSE(of.exhausted());
    EXPECT_EQ(of.generation(), 2000u);
}

} // namespace
} // namespace mailbox_tests
