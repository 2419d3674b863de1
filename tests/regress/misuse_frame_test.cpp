// SPDX-License-Identifier: Apache-2.0
// The report of a misuse names the function of the program that misused the library.
#include "sennit/barrier.hpp"
#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/runtime.hpp"
#include "sennit/this_fiber.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <optional>

namespace {

[[gnu::noinline]] void arrive_with_count_of_zero() {
    sennit::barrier two(2);
    (void)two.arrive(0);
    asm volatile(""); // no tail call
}

[[gnu::noinline]] void destroy_event_of_waiter() {
    std::optional<sennit::event> gate(std::in_place);
    bool waits = false;
    sennit::fiber waiter([&] {
        waits = true;
        gate->wait();
    });
    while (!waits) sennit::this_fiber::yield();
    gate.reset();
    asm volatile(""); // no tail call
}

// The child runs the program from its start: ThreadSanitizer allows no new threads in a child of
// fork() that was made while other threads ran.
struct misuse_death_test : testing::Test {
    void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(misuse_death_test, report_names_the_calling_function_on_a_thread) {
    EXPECT_EXIT(arrive_with_count_of_zero(), testing::KilledBySignal(SIGABRT),
                "\\[SNT-220\\].*\n    called from \\(anonymous namespace\\)::"
                "arrive_with_count_of_zero \\([^()+]+\\+0x[0-9a-f]+\\)\n$");
}

TEST_F(misuse_death_test, report_names_the_calling_function_in_a_fiber) {
    EXPECT_EXIT(
        {
            sennit::runtime one({.workers = 1});
            one.run([] { sennit::fiber({.name = "misuser"}, &arrive_with_count_of_zero).join(); });
        },
        testing::KilledBySignal(SIGABRT),
        "\\[SNT-220\\].*fiber [0-9]+ 'misuser', .*\n    called from .*"
        "arrive_with_count_of_zero \\(");
}

// std::optional and the library's destructor stand between the misuse and the report.
TEST_F(misuse_death_test, report_skips_frames_of_the_standard_library) {
    EXPECT_EXIT(
        {
            sennit::runtime one({.workers = 1});
            one.run([] { destroy_event_of_waiter(); });
        },
        testing::KilledBySignal(SIGABRT),
        "\\[SNT-211\\].*\n    called from .*destroy_event_of_waiter \\(");
}

// An optimizing compiler inlines the closure into a function of the library.
TEST_F(misuse_death_test, report_names_the_closure_of_a_fiber) {
    EXPECT_EXIT(
        {
            sennit::runtime one({.workers = 1});
            one.run([] {
                sennit::fiber([] {
                    sennit::barrier two(2);
                    (void)two.arrive(0);
                }).join();
            });
        },
        testing::KilledBySignal(SIGABRT),
        "\\[SNT-220\\].*\n    called from .*TestBody::.*lambda \\(");
}

} // namespace
