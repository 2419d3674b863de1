// SPDX-License-Identifier: Apache-2.0
// Tests the CPU quota of control groups, affinity masks, and NUMA nodes.
#include "sys/topology.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

// A made-up /proc and /sys in a temporary folder.
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
    void groups(const std::string& text) { file("proc/self/cgroup", text); }
    void mounts(const std::string& text) { file("proc/self/mountinfo", text); }
    void version_1(const std::string& folder, const std::string& quota_us,
                   const std::string& period_us = "100000\n") {
        file(folder + "/cpu.cfs_quota_us", quota_us);
        file(folder + "/cpu.cfs_period_us", period_us);
    }
    std::optional<double> read() { return sennit::sys::cgroup_cpu_quota(root.string()); }
    unsigned usable() { return sennit::sys::usable_cpus(root.string()); }
};

const std::string unified =
    "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST_F(quota, quota_is_absent_without_control_groups) {
    EXPECT_EQ(read(), std::nullopt);
    groups("0::/a\n");
    EXPECT_EQ(read(), std::nullopt) << "nothing is mounted";
    mounts("21 1 0:20 / /proc rw - proc proc rw\n");
    EXPECT_EQ(read(), std::nullopt) << "no control groups are mounted";
    mounts(unified);
    EXPECT_EQ(read(), std::nullopt) << "the group has no files";
}

TEST_F(quota, quota_of_version_2_is_tightest_of_group_and_ancestors) {
    groups("0::/a/b/c\n");
    mounts(unified);
    file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    EXPECT_EQ(read(), std::nullopt);
    file("sys/fs/cgroup/cpu.max", "400000 100000\n");
    EXPECT_EQ(read(), 4.0);
    file("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    EXPECT_EQ(read(), 1.5);
    file("sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
    EXPECT_EQ(read(), 1.5) << "an ancestor may be tighter";
    file("sys/fs/cgroup/a/b/c/cpu.max", "5000 10000\n");
    EXPECT_EQ(read(), 0.5);
    file("sys/fs/cgroup/a/sibling/cpu.max", "1000 100000\n");
    EXPECT_EQ(read(), 0.5) << "the limit of a sibling does not count";
}

TEST_F(quota, quota_of_root_group_is_read_at_mount_point) {
    groups("0::/\n");
    mounts(unified);
    file("sys/fs/cgroup/cpu.max", "200000 100000\n");
    EXPECT_EQ(read(), 2.0);
}

TEST_F(quota, quota_of_version_1_is_found_in_joined_hierarchies) {
    groups("4:cpuset:/x\n3:memory:/y\n2:cpu,cpuacct:/jobs/one\n1:name=systemd:/z\n");
    mounts("33 1 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
           "31 1 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n");
    version_1("sys/fs/cgroup/cpu,cpuacct/jobs/one", "-1\n");
    EXPECT_EQ(read(), std::nullopt);
    version_1("sys/fs/cgroup/cpuset/x", "100000\n");
    EXPECT_EQ(read(), std::nullopt) << "another hierarchy does not count";
    version_1("sys/fs/cgroup/cpu,cpuacct/jobs", "300000\n");
    EXPECT_EQ(read(), 3.0);
    version_1("sys/fs/cgroup/cpu,cpuacct/jobs/one", "25000\n", "50000\n");
    EXPECT_EQ(read(), 0.5);
}

TEST_F(quota, quota_of_container_is_found_at_mount_of_its_group) {
    groups("2:cpu:/docker/abc/job\n0::/docker/abc/job\n");
    mounts("40 1 0:27 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
           "41 1 0:28 /docker/abc /sys/fs/cgroup/unified ro - cgroup2 cgroup rw\n");
    version_1("sys/fs/cgroup/cpu", "200000\n");
    EXPECT_EQ(read(), 2.0);
    file("sys/fs/cgroup/unified/job/cpu.max", "150000 100000\n");
    EXPECT_EQ(read(), 1.5) << "with both versions, the tighter limit counts";
}

TEST_F(quota, quota_is_not_taken_from_group_with_common_prefix) {
    groups("0::/ab\n");
    mounts("40 1 0:28 /a /other rw - cgroup2 cgroup2 rw\n" + unified);
    file("other/b/cpu.max", "100000 100000\n");
    file("other/cpu.max", "100000 100000\n");
    file("sys/fs/cgroup/ab/cpu.max", "300000 100000\n");
    EXPECT_EQ(read(), 3.0);
}

TEST_F(quota, quota_is_found_under_mount_point_with_blank) {
    groups("0::/a\n");
    mounts("30 1 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
    file("my groups/a/cpu.max", "100000 100000\n");
    EXPECT_EQ(read(), 1.0);
}

TEST_F(quota, malformed_files_are_ignored) {
    groups("garbage\n0\n0:\n::\n\n:::::\n0::relative\n0::/a\n");
    mounts("garbage\n - \n - cgroup2\n1 2 3 - cgroup2 x y\n" + unified);
    for (const char* bad :
         {"", "\n", "max", "many 0\n", "100000\n", "100000 0\n", "0 100000\n", "-1 100000\n",
          "100000 -100000\n", "1e5 100000\n", "100000us 100000us\n", "nan nan\n", "inf 1\n",
          "99999999999999999999999 100000\n", "0x10 0x10\n"}) {
        file("sys/fs/cgroup/a/cpu.max", bad);
        EXPECT_EQ(read(), std::nullopt) << '"' << bad << '"';
    }
    file("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
    EXPECT_EQ(read(), 1.0) << "malformed lines do not hide later lines";
}

TEST_F(quota, quota_of_version_1_needs_both_files) {
    groups("2:cpu:/a\n");
    mounts("31 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    file("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n");
    EXPECT_EQ(read(), std::nullopt);
    version_1("sys/fs/cgroup/cpu/a", "100000\n", "0\n");
    EXPECT_EQ(read(), std::nullopt);
    version_1("sys/fs/cgroup/cpu/a", "abc\n");
    EXPECT_EQ(read(), std::nullopt);
}

TEST_F(quota, usable_cpus_lie_between_one_and_size_of_affinity_mask) {
    const auto mask = static_cast<unsigned>(sennit::sys::affinity_cpus().size());
    EXPECT_EQ(usable(), mask) << "no quota";
    groups("0::/a\n");
    mounts(unified);
    for (const char* small : {"50000 100000\n", "1 1000000\n", "100000 100000\n"}) {
        file("sys/fs/cgroup/a/cpu.max", small);
        EXPECT_EQ(usable(), 1u) << small;
    }
    file("sys/fs/cgroup/a/cpu.max", "100001 100000\n");
    EXPECT_EQ(usable(), std::min(2u, mask));
    for (const char* large : {"100000000 100000\n", "18446744073709551615 1\n"}) {
        file("sys/fs/cgroup/a/cpu.max", large);
        EXPECT_EQ(usable(), mask) << large;
    }
}

TEST(affinity_cpus, affinity_cpus_follow_mask_of_thread) {
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    const auto cpus = sennit::sys::affinity_cpus();
    ASSERT_EQ(cpus.size(), static_cast<std::size_t>(CPU_COUNT(&before)));
    EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
    for (const unsigned cpu : cpus) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_EQ(sennit::sys::affinity_cpus(), std::vector<unsigned>{cpu});
        EXPECT_EQ(sennit::sys::usable_cpus(), 1u);
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_F(quota, cpus_of_node_are_read_as_ranges) {
    file("sys/devices/system/node/node1/cpulist", "2-4,7,9-9\n");
    file("sys/devices/system/node/node2/cpulist", "\n");
    EXPECT_EQ(sennit::sys::node_cpus(1, root.string()), (std::vector<unsigned>{2, 3, 4, 7, 9}));
    EXPECT_EQ(sennit::sys::node_cpus(2, root.string()), std::vector<unsigned>())
        << "this node has memory only";
    EXPECT_FALSE(sennit::sys::node_cpus(3, root.string()));
    EXPECT_EQ(sennit::sys::node_cpus(0, root.string()), sennit::sys::affinity_cpus())
        << "the system does not list its nodes";
    file("sys/devices/system/node/online", "1-2\n");
    EXPECT_FALSE(sennit::sys::node_cpus(0, root.string()));
}

} // namespace
