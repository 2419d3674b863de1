// SPDX-License-Identifier: Apache-2.0
// Tests that the report of a stack overflow names the fiber.
#include "race_rounds.hpp"

#include <sennit/fiber.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#ifndef SENNIT_SLOW_TESTS // Sanitizers have their own reports.

namespace {

[[gnu::noinline]] int deep(int n) {
    volatile char block[2048];
    block[0] = static_cast<char>(n);
    return n == 0 ? 0 : deep(n - 1) + block[0];
}

void overflow_as(const sennit::fiber_attributes& how) {
    sennit::runtime runtime({.workers = 1, .stack_size = 64 << 10});
    runtime.run([&] {
        sennit::fiber one(how, [] {
            sennit::this_fiber::yield();
            return deep(1'000);
        });
        one.join();
    });
}

TEST(fiber_overflow_death_test, report_names_fiber) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        overflow_as({.name = "digger"}),
        "sennit: \\[SNT-040\\] stack overflow in fiber 'digger', context [0-9]+ on worker [0-9]+");
    EXPECT_DEATH(overflow_as({}),
                 "sennit: \\[SNT-040\\] stack overflow in context [0-9]+ on worker [0-9]+");
}

TEST(fiber_overflow_death_test, overflow_is_found_on_larger_stack) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(overflow_as({.name = "large", .stack_size = 256 << 10}),
                 "sennit: \\[SNT-040\\] stack overflow in fiber 'large', context");
}

TEST(fiber_overflow_death_test, overflow_is_found_on_stack_of_migratable_fiber) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(overflow_as({.name = "guest", .stack_size = 128 << 10, .migratable = true}),
                 "sennit: \\[SNT-041\\] stack overflow in fiber 'guest' on worker [0-9]+: 128 KiB "
                 ".*fiber_attributes::stack_size");
    EXPECT_DEATH(
        overflow_as({.migratable = true}),
        "sennit: \\[SNT-041\\] stack overflow in a migratable fiber on worker [0-9]+: 1024 KiB");
}

} // namespace

#endif
