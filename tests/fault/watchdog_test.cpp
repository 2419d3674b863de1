// SPDX-License-Identifier: Apache-2.0
// The watchdog when the system refuses its requests: it reports once, and nothing is lost.
#include "faults.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace {

using faults::extent, faults::request;

// Each test has its own process, because the report comes once in a process.
TEST(watchdog_refused_death_test, its_own_thread_leaves_the_runtime_as_it_is) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            bool right = true;
            bool same = false;
            // In some round a thread first sleeps; then the process makes objects that it keeps
            // from then on.
            for (int round = 0; round < 10 && !same; ++round) {
                const faults::account before = faults::balance();
                faults::refuse(request::thread_creation, 2,
                               extent::one); // the worker's request is the first
                {
                    sennit::runtime runtime({.workers = 1});
                    right = right && faults::stop() == 1 && runtime.run([] { return 42; }) == 42;
                }
                same = faults::balance() == before;
            }
            std::exit(right && same ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        "^sennit: \\[SNT-033\\] there is no watchdog: the system refused its thread; [^\n]*\n$");
}

class watchdog_refused_something_death_test : public testing::TestWithParam<request> {};

TEST_P(watchdog_refused_something_death_test, comes_later_and_says_so_once) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            std::atomic<bool> open{false};
            bool met = false;
            {
                sennit::runtime runtime({.workers = 1});
                runtime.run([&] {
                    sennit::fiber waits([&] { open = true; });
                    faults::refuse(GetParam(), 1, extent::all_from_there);
                    while (faults::so_far() < 3) {
                    }
                    met = !open.load();
                    faults::stop();
                    while (!open.load()) {
                    }
                    waits.join();
                });
            }
            std::exit(open && met ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        "^sennit: \\[SNT-034\\] the watchdog cannot replace a blocked worker: the system refused a "
        "thread or memory; "
        "[^\n]*\n$");
}

INSTANTIATE_TEST_SUITE_P(, watchdog_refused_something_death_test,
                         testing::Values(request::thread_creation, request::allocation),
                         [](const auto& test) { return std::string(faults::name(test.param)); });

} // namespace
