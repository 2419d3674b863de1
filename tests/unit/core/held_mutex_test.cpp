// SPDX-License-Identifier: Apache-2.0
// Tests the report about a fiber that leaves its worker while it holds a std::mutex. Only builds
// that count held mutexes write this report.
#include <sennit/blocking.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/runtime.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

#ifdef SENNIT_REPORT_HELD_MUTEX

constexpr int fine = 3; // The program ends with this status in no other way.

// Runs `body` in a death test's process, because the test matches the text on standard error.
template <class F>
void ends_well(F body) {
    {
        sennit::runtime runtime({.workers = 1});
        runtime.run([&] { body(); });
    }
    std::fputs("end\n", stderr);
    std::_Exit(fine);
}

// Lets a fiber named `holder` call `wait` while it holds a std::mutex, then calls `meanwhile`, then
// sets the event.
template <class F, class G>
void hold_over(F wait, G meanwhile) {
    ends_well([&] {
        sennit::event gate;
        std::timed_mutex door;
        std::atomic<bool> held = false;
        sennit::fiber holder({.name = "holder"}, [&] {
            std::lock_guard inside(door);
            held = true;
            wait(gate);
        });
        while (!held) sennit::this_fiber::yield();
        meanwhile(door);
        gate.set();
    });
}
constexpr auto nothing_else = [](std::timed_mutex&) {};

TEST(held_mutex_death_test, report_names_fiber_and_wait_and_locking_code) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(hold_over([](sennit::event& gate) { gate.wait(); }, nothing_else),
                testing::ExitedWithCode(fine),
                "^sennit: \\[SNT-035\\] fiber [0-9]+ 'holder' blocks in event while it holds a "
                "std::mutex, locked by "
                ".*unit_core\\+0x");
}

TEST(held_mutex_death_test, yield_is_reported) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(hold_over([](sennit::event&) { sennit::this_fiber::yield(); }, nothing_else),
                testing::ExitedWithCode(fine),
                "^sennit: \\[SNT-035\\] fiber [0-9]+ 'holder' yields while it holds a std::mutex");
}

TEST(held_mutex_death_test, blocking_call_is_reported_by_its_own_name) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(hold_over([](sennit::event& gate) { sennit::blocking([&] { gate.wait(); }); },
                          nothing_else),
                testing::ExitedWithCode(fine),
                "^sennit: \\[SNT-035\\] fiber [0-9]+ 'holder' blocks in blocking while it holds a "
                "std::mutex");
}

TEST(held_mutex_death_test, other_fiber_is_not_reported) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(hold_over([](sennit::event& gate) { gate.wait(); },
                          [](std::timed_mutex& door) {
                              sennit::fiber innocent([&] {
                                  if (door.try_lock()) std::_Exit(fine + 1);
                                  sennit::this_fiber::yield();
                              });
                              innocent.join();
                          }),
                testing::ExitedWithCode(fine),
                "^sennit: \\[SNT-035\\] fiber [0-9]+ 'holder' [^\n]*\n *Any fiber [^\n]*\nend\n$");
}

TEST(held_mutex_death_test, unlocked_mutex_is_not_reported) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(ends_well([] {
                    std::recursive_mutex door;
                    {
                        const std::lock_guard once(door);
                        const std::lock_guard twice(door);
                    }
                    sennit::this_fiber::yield();
                    sennit::fiber([] { sennit::this_fiber::yield(); }).join();
                }),
                testing::ExitedWithCode(fine), "^end\n$");
}

#endif

} // namespace
