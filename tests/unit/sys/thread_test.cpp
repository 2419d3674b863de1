// SPDX-License-Identifier: Apache-2.0
// Tests sys::thread, pinning, and the count of forks. tests/fault tests a refused creation.
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

TEST(thread, thread_runs_entry_with_argument_and_is_joined) {
    bool ran = false;
    thread one(&set_flag, &ran);
    EXPECT_TRUE(one.joinable());
    one.join();
    EXPECT_FALSE(one.joinable());
    EXPECT_TRUE(ran);
    one.join(); // There is no thread to join, so this has no effect.
}

TEST(thread, move_transfers_handle) {
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

TEST(thread_death_test, unjoined_thread_cannot_be_destroyed_or_overwritten) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    static bool ran = false; // Outlives the frame that abandons the thread.
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

TEST(thread, name_is_cut_to_15_characters) {
    EXPECT_EQ(name_after("sennit-3"), "sennit-3");
    EXPECT_EQ(name_after("exactly15chars!"), "exactly15chars!");
    EXPECT_EQ(name_after("this name is far too long"), "this name is fa");
    EXPECT_EQ(name_after(""), "");
}

TEST(pin_this_thread, pinning_binds_to_cpu_or_reports_reason_of_refusal) {
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

TEST(fork_generation, generation_counts_forks_since_first_ancestor) {
    sennit::sys::install_atfork_handlers();
    sennit::sys::install_atfork_handlers(); // The second call does not make a fork count twice.
    const unsigned here = sennit::sys::fork_generation();
    EXPECT_EQ(status_of_child([here] {
                  const bool one_more = sennit::sys::fork_generation() == here + 1;
                  const int grandchild = status_of_child(
                      [here] { return sennit::sys::fork_generation() == here + 2 ? 0 : 1; });
                  return one_more ? grandchild : 2;
              }),
              0);
    EXPECT_EQ(sennit::sys::fork_generation(), here)
        << "a fork does not change the count of the parent";
}

TEST(thread, child_disowns_thread_of_parent) {
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
