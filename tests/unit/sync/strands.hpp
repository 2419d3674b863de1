// SPDX-License-Identifier: Apache-2.0
// Runs a test with 1, 2 and 4 workers, on strands of each kind: fibers, forked children, children
// of a scope, plain threads, and a mixture. Checks at the end that nothing is left alive.
#pragma once

#include "../fibers/on_workers.hpp"

#include <sennit/fiber.hpp>
#include <sennit/fork_each.hpp>
#include <sennit/scope.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace std::chrono_literals;

enum class strand : unsigned { fibers, forks, children, threads, mixed };

class strands : public testing::TestWithParam<std::tuple<unsigned, strand>> {
protected:
    sennit::runtime runtime{{.workers = std::get<0>(GetParam())}};
    void TearDown() override { expect_nothing_alive(runtime); }

    // Calls body(0), …, body(count - 1) in as many strands, which may wait for each other.
    template <class Body>
    void together(std::size_t count, Body&& body) {
        std::array<std::vector<std::size_t>, 4> of;
        for (std::size_t i = 0; i < count; ++i) {
            const auto kind = std::get<1>(GetParam());
            of[kind == strand::mixed ? i % 4 : static_cast<std::size_t>(kind)].push_back(i);
        }
        const auto &fibers = of[0], &forks = of[1], &children = of[2], &threads = of[3];
        std::vector<std::thread> outside;
        for (std::size_t i : threads) outside.emplace_back([&body, i] { body(i); });
        runtime.run([&] {
            std::vector<sennit::fiber> started;
            for (std::size_t i : fibers) started.emplace_back([&body, i] { body(i); });
            sennit::scope family;
            for (std::size_t i : children) family.spawn([&body, i] { body(i); });
            sennit::fork_each(forks.size(), [&](std::size_t k) { body(forks[k]); });
            family.join();
            for (auto& one : started) one.join();
        });
        for (auto& one : outside) one.join();
    }
};

inline std::string strands_name(const testing::TestParamInfo<strands::ParamType>& test) {
    constexpr std::array kinds{"fibers", "forks", "children", "threads", "mixed"};
    const auto [workers, kind] = test.param;
    return std::string(kinds[static_cast<std::size_t>(kind)])
        .append("_w")
        .append(std::to_string(workers));
}

#define SENNIT_BY_STRANDS(suite)                                                                   \
    INSTANTIATE_TEST_SUITE_P(                                                                      \
        strands, suite,                                                                            \
        testing::Combine(testing::Values(1u, 2u, 4u),                                              \
                         testing::Values(strand::fibers, strand::forks, strand::children,          \
                                         strand::threads, strand::mixed)),                         \
        strands_name)

// Returns a time limit that is zero, short, or long, compared with a concurrent signal.
inline std::chrono::nanoseconds soon(int round) {
    return std::chrono::nanoseconds(round * 7919 % 4000);
}

// The fixture of tests that stop the program in a child process (EXPECT_DEATH).
class sync_death_test : public testing::Test {
protected:
    void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

// Starts a fiber that blocks in `wait`, and destroys the object on which the fiber waits.
template <class Thing, class Wait>
void destroy_under_a_waiter(Thing* thing, Wait wait) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([&] {
        std::atomic<bool> about{false};
        sennit::fiber waiter([&] {
            about = true;
            wait(*thing);
        });
        yield_until(about);
        let_others_run();
        delete thing;
    });
}
