// SPDX-License-Identifier: Apache-2.0
// Tests the description of the machine's processors, with made-up files.
#include "sys/machine.hpp"

#include "../../support/fake_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using sennit::sys::describe_processors;
using sennit::sys::processor;
constexpr unsigned unknown = processor::unknown;

class machine : public fake_machine {
protected:
    std::vector<processor> read(const std::vector<unsigned>& cpus) {
        return describe_processors(cpus, root.string());
    }
};

TEST_F(machine, processors_of_a_machine_without_files_are_unknown) {
    for (const processor& one : read({0, 1, 1023}))
        EXPECT_EQ(one, processor{.cpu = one.cpu}) << one.cpu;
    EXPECT_TRUE(read({}).empty());
}

TEST_F(machine, one_cache_is_found_for_64_processors) {
    equal_groups(1, 64);
    const auto all = read(first_cpus(64));
    ASSERT_EQ(all.size(), 64u);
    for (unsigned i = 0; i < 64; ++i)
        EXPECT_EQ(all[i], (processor{.cpu = i, .cache = 0, .node = 0, .core = i})) << i;
}

TEST_F(machine, two_caches_of_32_processors_are_found) {
    equal_groups(2, 32);
    const auto all = read(first_cpus(64));
    for (unsigned i = 0; i < 64; ++i)
        EXPECT_EQ(all[i], (processor{.cpu = i, .cache = i / 32 * 32, .node = i / 32, .core = i}))
            << i;
}

TEST_F(machine, four_nodes_with_several_caches_each_are_found) {
    for (unsigned i = 0; i < 64; ++i) {
        const unsigned first = i / 4 * 4;
        large_cache(i, std::to_string(first) + "-" + std::to_string(first + 3));
    }
    for (unsigned i = 0; i < 4; ++i)
        node(i, std::to_string(16 * i) + "-" + std::to_string(16 * i + 15));
    nodes("0-3");
    const auto all = read(first_cpus(64));
    for (unsigned i = 0; i < 64; ++i) {
        EXPECT_EQ(all[i].cache, i / 4 * 4);
        EXPECT_EQ(all[i].node, i / 16);
    }
}

TEST_F(machine, threads_of_a_core_are_siblings) {
    for (unsigned i = 0; i < 8; ++i) {
        const std::string both = std::to_string(i % 4) + "," + std::to_string(i % 4 + 4);
        caches(i, both, "0-7");
        siblings(i, both);
    }
    const auto all = read(first_cpus(8));
    for (unsigned i = 0; i < 8; ++i) {
        EXPECT_EQ(all[i].core, i % 4);
        EXPECT_EQ(all[i].cache, 0u) << "the cache of a core is not that of level 3";
    }
}

TEST_F(machine, capacities_come_from_arm_then_kinds_of_core_then_frequency) {
    equal_groups(1, 4);
    for (unsigned i = 0; i < 4; ++i)
        file(cpu(i) + "cpufreq/cpuinfo_max_freq", i < 2 ? "5200000\n" : "3900000\n");
    EXPECT_EQ(read(first_cpus(4))[0].capacity, 5'200'000u);
    EXPECT_EQ(read(first_cpus(4))[3].capacity, 3'900'000u);
    for (unsigned i = 0; i < 4; ++i) file(cpu(i) + "cpu_capacity", "1024\n");
    EXPECT_EQ(read(first_cpus(4))[3].capacity, 3'900'000u) << "equal capacities say nothing";
    file("cpu_core/cpus", "0-1\n");
    file("cpu_atom/cpus", "2-3\n");
    EXPECT_EQ(read(first_cpus(4))[1].capacity, 2u);
    EXPECT_EQ(read(first_cpus(4))[2].capacity, 1u);
    file(cpu(3) + "cpu_capacity", "430\n");
    EXPECT_EQ(read(first_cpus(4))[2].capacity, 1024u);
    EXPECT_EQ(read(first_cpus(4))[3].capacity, 430u);
    file(cpu(3) + "cpu_capacity", "many\n");
    EXPECT_EQ(read(first_cpus(4))[3].capacity, 1u) << "a malformed file leaves the next source";
    std::filesystem::remove(root / "sys/devices/cpu_atom/cpus");
    EXPECT_EQ(read(first_cpus(4))[3].capacity, 3'900'000u);
    std::filesystem::remove(root / "sys/devices" / (cpu(2) + "cpufreq/cpuinfo_max_freq"));
    for (const processor& one : read(first_cpus(4))) EXPECT_EQ(one.capacity, unknown);
}

TEST_F(machine, holes_in_the_list_of_processors_are_kept) {
    for (const unsigned i : {0u, 2u, 8u, 10u}) caches(i, std::to_string(i), i < 8 ? "0,2" : "8,10");
    node(0, "0,2");
    node(3, "8,10");
    nodes("0,3");
    const auto all = read({0, 2, 8, 10});
    EXPECT_EQ(all[1], (processor{.cpu = 2, .cache = 0, .node = 0}));
    EXPECT_EQ(all[2], (processor{.cpu = 8, .cache = 8, .node = 3}));
}

TEST_F(machine, three_of_64_processors_are_described_in_the_given_order) {
    equal_groups(2, 32);
    const auto all = read({40, 3, 33});
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0], (processor{.cpu = 40, .cache = 32, .node = 1, .core = 40}));
    EXPECT_EQ(all[1], (processor{.cpu = 3, .cache = 0, .node = 0, .core = 3}));
    EXPECT_EQ(all[2], (processor{.cpu = 33, .cache = 32, .node = 1, .core = 33}));
}

TEST_F(machine, malformed_lists_leave_a_fact_unknown) {
    const std::string huge(sennit::sys::most_bytes_of_a_file + 1, '0');
    for (const std::string& bad :
         {std::string(), std::string("x"), std::string("1-0"), std::string("0-"), std::string("-1"),
          std::string(",0"), std::string("0 1"), std::string("0-1048576"),
          std::string("0-99999999999999999999"), std::string("0\n1"), std::string("0\0", 2),
          std::string("1-3"), huge}) {
        equal_groups(1, 2);
        file(cpu(0) + "cache/index3/shared_cpu_list", bad);
        file(cpu(0) + "topology/thread_siblings_list", bad);
        file("system/node/node0/cpulist", bad == "1-3" ? "2-3" : bad);
        const processor first = read({0, 1})[0];
        // The second processor's own list names both.
        EXPECT_EQ(first.cache, 0u) << bad;
        EXPECT_EQ(first, (processor{.cpu = 0, .cache = 0})) << bad;
        EXPECT_EQ(read({0})[0], processor{.cpu = 0}) << bad;
    }
}

TEST_F(machine, malformed_levels_hide_no_later_cache) {
    equal_groups(1, 2);
    file(cpu(0) + "cache/index0/level", "three");
    file(cpu(0) + "cache/index1/level", "");
    file(cpu(0) + "cache/index2/level", "33");
    EXPECT_EQ(read({0})[0].cache, 0u);
    file(cpu(0) + "cache/index3/level", "4");
    EXPECT_EQ(read({0})[0].cache, unknown);
}

TEST_F(machine, folders_in_the_place_of_files_are_ignored) {
    std::filesystem::create_directories(root / "sys/devices/system/node/online");
    std::filesystem::create_directories(root / "sys/devices" /
                                        (cpu(0) + "topology/thread_siblings_list"));
    EXPECT_EQ(read({0})[0], processor{.cpu = 0});
}

// Each list is as long as a file may be, and names one further processor: without a bound the
// description would read 1.6 MB.
TEST_F(machine, number_of_bytes_read_has_a_bound) {
    constexpr unsigned count = 200;
    const auto list_of = [](unsigned i) {
        std::string list = std::to_string(i);
        while (list.size() + 8 < sennit::sys::most_bytes_of_a_file) list += ",1000000";
        return list;
    };
    for (unsigned i = 0; i < count; ++i) siblings(i, list_of(i));
    const auto all = read(first_cpus(count));
    const auto known = std::count_if(all.begin(), all.end(),
                                     [](const processor& one) { return one.core == one.cpu; });
    EXPECT_EQ(known, static_cast<long>(sennit::sys::most_bytes_read / list_of(100).size()));
    EXPECT_EQ(all.back(), processor{.cpu = count - 1});
}

TEST_F(machine, number_of_processors_read_has_a_bound) {
    const std::vector<unsigned> cpus(sennit::sys::most_processors_read + 10, 0);
    siblings(0, "0");
    const auto all = read(cpus);
    ASSERT_EQ(all.size(), cpus.size());
    EXPECT_EQ(all[sennit::sys::most_processors_read - 1].core, 0u);
    EXPECT_EQ(all[sennit::sys::most_processors_read].core, unknown);
}

TEST(this_machine, this_machine_is_described) {
    const auto all = describe_processors(first_cpus(4));
    ASSERT_EQ(all.size(), 4u);
    for (const processor& one : all)
        for (const unsigned fact : {one.cache, one.core})
            EXPECT_TRUE(fact == unknown || fact <= one.cpu);
}

} // namespace
