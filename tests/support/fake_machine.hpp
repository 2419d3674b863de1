// SPDX-License-Identifier: Apache-2.0
// A made-up /sys/devices in a temporary folder, for tests of code that reads the machine's
// topology.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

inline std::vector<unsigned> first_cpus(unsigned count) {
    std::vector<unsigned> all(count);
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

class fake_machine : public testing::Test {
protected:
    std::filesystem::path root =
        std::filesystem::temp_directory_path() / ("sennit-machine-" + std::to_string(::getpid()));
    void SetUp() override { std::filesystem::remove_all(root); }
    void TearDown() override { std::filesystem::remove_all(root); }

    void file(const std::string& path, const std::string& text) {
        const std::filesystem::path whole = root / "sys/devices" / path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole) << text;
    }
    static std::string cpu(unsigned number) {
        return "system/cpu/cpu" + std::to_string(number) + "/";
    }
    // Caches as an x86 processor shows them: two of level 1, one of level 2, one of level 3.
    void caches(unsigned number, const std::string& core, const std::string& level_3) {
        const std::string levels[] = {"1", "1", "2", "3"};
        for (int i = 0; i < 4; ++i) {
            const std::string cache = cpu(number) + "cache/index" + std::to_string(i) + "/";
            file(cache + "level", levels[i] + "\n");
            file(cache + "shared_cpu_list", (i == 3 ? level_3 : core) + "\n");
        }
    }
    void siblings(unsigned number, const std::string& list) {
        file(cpu(number) + "topology/thread_siblings_list", list + "\n");
    }
    void node(unsigned number, const std::string& list) {
        file("system/node/node" + std::to_string(number) + "/cpulist", list + "\n");
    }
    void nodes(const std::string& list) { file("system/node/online", list + "\n"); }

    // The cache of level 3 alone: much fewer files.
    void large_cache(unsigned number, const std::string& list) {
        file(cpu(number) + "cache/index0/level", "3\n");
        file(cpu(number) + "cache/index0/shared_cpu_list", list + "\n");
    }

    // `groups` caches of level 3 with `in_group` processors each, on as many nodes.
    void equal_groups(unsigned groups, unsigned in_group) {
        for (unsigned group = 0; group < groups; ++group) {
            const unsigned first = group * in_group;
            const std::string list =
                std::to_string(first) + "-" + std::to_string(first + in_group - 1);
            for (unsigned i = first; i < first + in_group; ++i) {
                if (groups * in_group <= 16)
                    caches(i, std::to_string(i), list);
                else
                    large_cache(i, list);
                siblings(i, std::to_string(i));
            }
            node(group, list);
        }
        nodes(groups == 1 ? "0" : "0-" + std::to_string(groups - 1));
    }
};
