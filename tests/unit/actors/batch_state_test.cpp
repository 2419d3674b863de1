// SPDX-License-Identifier: Apache-2.0
// The state of a mailbox as a task, and the end of its batches: src/actors/runtime/batch_state.hpp.
#include "actors/runtime/batch_state.hpp"
#include "message_row.hpp"

#include <gtest/gtest.h>

namespace mailbox_tests {
namespace {

using sennit::sched::batch_state;
using sennit::sched::inbox_list;
using sennit::sched::remote_inbox;
using sennit::sched::urgent_order;

TEST(batch_state, begins_once_until_it_ends) {
    batch_state state;
    EXPECT_TRUE(state.idle());
    EXPECT_FALSE(state.busy_hint());
    EXPECT_TRUE(state.try_begin());
    EXPECT_FALSE(state.try_begin());
    EXPECT_FALSE(state.idle());
    EXPECT_TRUE(state.busy_hint());
    state.end_unmarked();
    EXPECT_TRUE(state.try_begin());
    EXPECT_FALSE(state.end());
    EXPECT_TRUE(state.idle());
}

TEST(batch_state, may_end_only_without_local_and_remote_messages) {
    message_row made;
    inbox_list local, none;
    local.append(made.usual(1));
    remote_inbox remote, empty;
    remote.push(made.usual(2));
    EXPECT_TRUE(batch_state::may_end(none, empty));
    EXPECT_FALSE(batch_state::may_end(local, empty));
    EXPECT_FALSE(batch_state::may_end(none, remote));
    EXPECT_FALSE(batch_state::may_end(local, remote));
}

TEST(batch_state, may_end_again_after_the_messages_were_taken) {
    message_row made;
    inbox_list local;
    urgent_order order;
    remote_inbox remote;
    remote.push(made.usual(1));
    remote.take_all(local, order);
    EXPECT_FALSE(batch_state::may_end(local, remote));
    local.first = nullptr;
    EXPECT_TRUE(batch_state::may_end(local, remote));
}

TEST(batch_state, returns_the_slot_of_an_ended_incarnation_once) {
    batch_state state;
    state.begin();
    state.set(batch_state::retired);
    EXPECT_TRUE(state.end());
    EXPECT_FALSE(state.marked());
    state.begin(); // for a late message
    EXPECT_FALSE(state.end());
}

TEST(batch_state, returns_no_slot_for_other_marks) {
    batch_state state;
    state.begin();
    state.set(batch_state::floods_receiver);
    state.set(batch_state::has_locals);
    EXPECT_FALSE(state.end());
    EXPECT_FALSE(state.marked());
}

TEST(batch_state, sets_and_clears_each_mark_alone) {
    batch_state state;
    EXPECT_FALSE(state.marked());
    state.set(batch_state::has_locals);
    state.set(batch_state::floods_receiver);
    EXPECT_TRUE(state.only_floods());
    state.clear(batch_state::has_locals);
    EXPECT_FALSE(state.has(batch_state::has_locals));
    EXPECT_TRUE(state.has(batch_state::floods_receiver));
    state.set(batch_state::retired);
    EXPECT_FALSE(state.only_floods()) << "an ended incarnation handles its messages to the end";
    state.clear_all_but(batch_state::retired);
    EXPECT_FALSE(state.has(batch_state::floods_receiver));
    EXPECT_TRUE(state.has(batch_state::retired));
}

TEST(batch_state, is_idle_and_unmarked_after_a_reset) {
    batch_state state;
    state.begin();
    state.set(batch_state::retired);
    state.reset();
    EXPECT_TRUE(state.idle());
    EXPECT_FALSE(state.marked());
}

} // namespace
} // namespace mailbox_tests
