// SPDX-License-Identifier: Apache-2.0
// A refused creation is tested in tests/fault.
#include "sys/thread.hpp"

#include "child_process.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using sennit::sys::thread;

void set_flag(void* flag) noexcept {
    *static_cast<bool*>(flag) = true;
}

TEST(thread, runs_its_entry_with_its_argument_and_is_joined) {
    bool ran = false;
    thread one(&set_flag, &ran);
    EXPECT_TRUE(one.joinable());
    one.join();
    EXPECT_FALSE(one.joinable());
    EXPECT_TRUE(ran);
    one.join(); // nothing to join: no effect
}

TEST(thread, hands_its_handle_over_when_moved) {
    bool ran = false;
    thread one(&set_flag, &ran);
    thread two = std::move(one);
    EXPECT_FALSE(one.joinable());
    thread three;
    EXPECT_FALSE(three.joinable());
    three = std::move(two);
    EXPECT_FALSE(two.joinable());
    EXPECT_TRUE(three.joinable());
    three.join();
    EXPECT_TRUE(ran);
}

TEST(thread_death_test, must_be_joined_before_it_is_destroyed_or_overwritten) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    static bool ran = false; // outlives the frame that the thread is left in
    EXPECT_DEATH(
        { thread forgotten(&set_flag, &ran); },
        "sennit: \\[SNT-904\\] a thread is destroyed before it was joined");
    EXPECT_DEATH(
        {
            thread one(&set_flag, &ran);
            one = thread();
        },
        "sennit: \\[SNT-903\\] a thread is overwritten before it was joined");
}

std::string name_after(const char* wanted) {
    std::string name(wanted);
    thread one(
        [](void* argument) noexcept {
            auto& text = *static_cast<std::string*>(argument);
            thread::set_name(text.c_str());
            char seen[64] = {};
            pthread_getname_np(pthread_self(), seen, sizeof seen);
            text = seen;
        },
        &name);
    one.join();
    return name;
}

TEST(thread, cuts_its_name_to_15_characters) {
    EXPECT_EQ(name_after("sennit-3"), "sennit-3");
    EXPECT_EQ(name_after("exactly15chars!"), "exactly15chars!");
    EXPECT_EQ(name_after("this name is far too long"), "this name is fa");
    EXPECT_EQ(name_after(""), "");
}

TEST(pin_this_thread, binds_to_the_processor_and_says_why_it_was_refused) {
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    for (const unsigned absent : {100'000u, std::numeric_limits<unsigned>::max()}) {
        const auto error = sennit::sys::pin_this_thread(absent);
        EXPECT_EQ(error, std::errc::invalid_argument) << error.message();
    }
    cpu_set_t after;
    ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "a refusal changes nothing";
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &before)) continue;
        ASSERT_FALSE(sennit::sys::pin_this_thread(cpu));
        EXPECT_EQ(static_cast<unsigned>(::sched_getcpu()), cpu);
        break;
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(fork_generation, counts_the_forks_between_a_process_and_its_first_ancestor) {
    sennit::sys::install_atfork_handlers();
    sennit::sys::install_atfork_handlers(); // counts each fork once all the same
    const unsigned here = sennit::sys::fork_generation();
    EXPECT_EQ(status_of_child([here] {
                  const bool one_more = sennit::sys::fork_generation() == here + 1;
                  const int grandchild = status_of_child(
                      [here] { return sennit::sys::fork_generation() == here + 2 ? 0 : 1; });
                  return one_more ? grandchild : 2;
              }),
              0);
    EXPECT_EQ(sennit::sys::fork_generation(), here) << "a parent stays what it is";
}

TEST(thread, is_disowned_in_a_child_that_does_not_have_it) {
    bool ran = false;
    thread one(&set_flag, &ran);
    EXPECT_EQ(status_of_child([&one] {
                  one.disown();
                  return one.joinable() ? 1 : 0;
              }),
              0);
    one.join();
}

} // namespace
