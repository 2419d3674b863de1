// SPDX-License-Identifier: Apache-2.0
// A fixture for races over channels. It starts and joins a group of fibers, threads or both, round
// after round.
#pragma once

#include "channels.hpp"
#include "race_rounds.hpp"

#include <sennit/fiber.hpp>
#include <sennit/runtime.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct race_setting {
    by how;
    unsigned workers;
};

inline constexpr race_setting race_settings[] = {{by::fibers, 1}, {by::fibers, 2}, {by::fibers, 4},
                                                 {by::both, 1},   {by::both, 2},   {by::both, 4},
                                                 {by::threads, 1}};

inline std::string name_of_race(const testing::TestParamInfo<race_setting>& test) {
    const by how = test.param.how;
    return std::string(how == by::fibers ? "fibers"
                       : how == by::both ? "both"
                                         : "threads") +
           std::to_string(test.param.workers);
}

class race : public testing::TestWithParam<race_setting> {
protected:
    const std::uint64_t seed = std::random_device()();
    testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
    sennit::base::random chance{seed};
    const int rounds =
        GetParam().how == by::fibers ? race_rounds : race_rounds / 10; // threads are slow to make
    sennit::runtime runtime{{.workers = GetParam().workers}};

    template <class F>
    void start(F body) {
        if (GetParam().how == by::threads || (GetParam().how == by::both && ++started_ % 2 == 0))
            threads_.emplace_back(std::move(body));
        else
            fibers_.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, std::move(body));
    }
    void join() {
        for (sennit::fiber& one : fibers_) one.join();
        fibers_.clear();
        threads_.clear();
    }

private:
    unsigned started_ = 0;
    std::vector<sennit::fiber> fibers_;
    std::vector<std::jthread> threads_;
};
