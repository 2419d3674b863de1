// SPDX-License-Identifier: Apache-2.0
#include "sys/topology.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace {

class quota : public testing::Test {
protected:
    std::filesystem::path root =
        std::filesystem::temp_directory_path() / ("sennit-quota-" + std::to_string(::getpid()));
    void SetUp() override { std::filesystem::remove_all(root); }
    void TearDown() override { std::filesystem::remove_all(root); }
    void file(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
    }
    std::optional<double> read() { return sennit::sys::cgroup_cpu_quota(root.string()); }
};

TEST_F(quota, is_none_without_control_groups) {
    EXPECT_EQ(read(), std::nullopt);
}

TEST_F(quota, of_version_2_is_the_tightest_of_group_and_ancestors) {
    file("proc/self/cgroup", "0::/a/b\n");
    file("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    EXPECT_EQ(read(), std::nullopt);
    file("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    EXPECT_EQ(read(), 1.5);
    file("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    EXPECT_EQ(read(), 0.5);
}

TEST_F(quota, of_version_1_is_found_in_joined_hierarchies) {
    file("proc/self/cgroup", "3:cpuset:/x\n2:cpu,cpuacct:/jobs/one\n");
    file("proc/self/mountinfo", "31 1 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n");
    file("sys/fs/cgroup/cpu,cpuacct/jobs/one/cpu.cfs_quota_us", "-1\n");
    file("sys/fs/cgroup/cpu,cpuacct/jobs/one/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(read(), std::nullopt);
    file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "300000\n");
    file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(read(), 3.0);
}

TEST_F(quota, ignores_files_that_make_no_sense) {
    file("proc/self/cgroup", "garbage\n0::/a\n::\n");
    file("proc/self/mountinfo", "garbage\n30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    file("sys/fs/cgroup/a/cpu.max", "many 0\n");
    EXPECT_EQ(read(), std::nullopt);
    file("sys/fs/cgroup/a/cpu.max", "100000 0\n");
    EXPECT_EQ(read(), std::nullopt);
}

TEST(usable_cpus, follows_the_affinity_mask) {
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    const auto all = sennit::sys::affinity_cpus();
    ASSERT_FALSE(all.empty());
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(all.back(), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(sennit::sys::usable_cpus(), 1u);
    EXPECT_EQ(sennit::sys::affinity_cpus(), std::vector<unsigned>{all.back()});
    ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

} // namespace
