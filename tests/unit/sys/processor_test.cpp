// SPDX-License-Identifier: Apache-2.0
#include "sys/processor.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace {

using namespace sennit::sys;

cpu_set_t own_mask() {
    cpu_set_t mask;
    EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    return mask;
}

// Restores the affinity mask of the thread at the end of a test.
class own_processor : public testing::Test {
protected:
    ~own_processor() override { (void)sched_setaffinity(0, sizeof before_, &before_); }
    bool has_one_only() const { return CPU_COUNT(&before_) < 2; }
    const cpu_set_t before_ = own_mask();
};

TEST_F(own_processor, current_one_is_in_the_mask) {
    const int here = current_processor();
    ASSERT_GE(here, 0);
    EXPECT_TRUE(CPU_ISSET(static_cast<unsigned>(here), &before_));
}

TEST_F(own_processor, thread_that_leaves_runs_elsewhere_and_keeps_its_mask) {
    if (has_one_only()) GTEST_SKIP() << "the process may use one processor only";
    const int here = current_processor();
    cpu_set_t only_here;
    CPU_ZERO(&only_here);
    CPU_SET(static_cast<unsigned>(here), &only_here);
    // The kernel could move the thread at any time, so the mask alone tells the first place.
    ASSERT_EQ(sched_setaffinity(0, sizeof only_here, &only_here), 0);
    ASSERT_EQ(current_processor(), here);
    ASSERT_EQ(sched_setaffinity(0, sizeof before_, &before_), 0);
    EXPECT_TRUE(leave_processor(here, 2));
    const cpu_set_t after = own_mask();
    EXPECT_TRUE(CPU_EQUAL(&after, &before_));
}

TEST_F(own_processor, thread_with_one_processor_stays) {
    const int here = current_processor();
    cpu_set_t only_here;
    CPU_ZERO(&only_here);
    CPU_SET(static_cast<unsigned>(here), &only_here);
    ASSERT_EQ(sched_setaffinity(0, sizeof only_here, &only_here), 0);
    EXPECT_FALSE(leave_processor(here, 1));
    EXPECT_EQ(current_processor(), here);
}

TEST_F(own_processor, more_threads_than_processors_stay) {
    const auto count = static_cast<unsigned>(CPU_COUNT(&before_));
    EXPECT_FALSE(leave_processor(current_processor(), count + 1));
}

TEST_F(own_processor, unknown_number_changes_nothing) {
    EXPECT_FALSE(leave_processor(-1, 1));
    EXPECT_FALSE(leave_processor(CPU_SETSIZE, 1));
    const cpu_set_t after = own_mask();
    EXPECT_TRUE(CPU_EQUAL(&after, &before_));
}

} // namespace
