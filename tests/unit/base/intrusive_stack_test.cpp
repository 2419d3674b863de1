// SPDX-License-Identifier: Apache-2.0
// Tests the intrusive stack.

#include "sennit/detail/base/intrusive_stack.hpp"

#include <gtest/gtest.h>

namespace {

struct plate : sennit::base::list_node {
    explicit plate(int n) : number(n) {}
    int number;
};
using pile = sennit::base::intrusive_stack<plate>;

} // namespace

TEST(intrusive_stack, pop_returns_newest_element_or_null) {
    pile all;
    EXPECT_TRUE(all.empty());
    EXPECT_EQ(all.pop_front(), nullptr);
    plate a(1), b(2), c(3);
    all.push_front(a);
    all.push_front(b);
    EXPECT_FALSE(all.empty());
    EXPECT_EQ(all.pop_front()->number, 2);
    all.push_front(c);
    EXPECT_EQ(all.pop_front()->number, 3);
    EXPECT_EQ(all.pop_front()->number, 1);
    EXPECT_TRUE(all.empty());
    EXPECT_EQ(all.pop_front(), nullptr);
}

TEST(intrusive_stack, popped_elements_can_be_pushed_again) {
    pile all;
    plate a(1), b(2);
    for (int round = 0; round < 3; ++round) {
        all.push_front(a);
        all.push_front(b);
        EXPECT_EQ(all.pop_front(), &b);
        EXPECT_EQ(all.pop_front(), &a);
        EXPECT_TRUE(all.empty());
    }
}
