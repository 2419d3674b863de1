// SPDX-License-Identifier: Apache-2.0
// A std::mutex that is held while its holder is left is told of, in builds that count them.
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

constexpr int fine = 3; // no other way of ending gives this

// In a process of its own: what it writes to standard error is matched.
template <class F>
void ends_well(F body) {
    {
        sennit::runtime runtime({.workers = 1});
        runtime.run([&] { body(); });
    }
    std::fputs("end\n", stderr);
    std::_Exit(fine);
}

// Lets a fiber called `holder` call `wait` under a std::mutex, then calls `meanwhile`, then sets
// the event.
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

TEST(held_mutex_death_test, names_the_fiber_what_it_waits_for_and_who_locked) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(hold_over([](sennit::event& gate) { gate.wait(); }, nothing_else),
                testing::ExitedWithCode(fine),
                "^sennit: \\[SNT-035\\] fiber [0-9]+ 'holder' blocks in event while it holds a "
                "std::mutex, locked by "
                ".*unit_core\\+0x");
}

TEST(held_mutex_death_test, tells_of_a_yield) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(hold_over([](sennit::event&) { sennit::this_fiber::yield(); }, nothing_else),
                testing::ExitedWithCode(fine),
                "^sennit: \\[SNT-035\\] fiber [0-9]+ 'holder' yields while it holds a std::mutex");
}

TEST(held_mutex_death_test, tells_of_a_blocking_call_by_its_name_whatever_that_waits_for) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(hold_over([](sennit::event& gate) { sennit::blocking([&] { gate.wait(); }); },
                          nothing_else),
                testing::ExitedWithCode(fine),
                "^sennit: \\[SNT-035\\] fiber [0-9]+ 'holder' blocks in blocking while it holds a "
                "std::mutex");
}

TEST(held_mutex_death_test, blames_nobody_else_for_it) {
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

TEST(held_mutex_death_test, says_nothing_of_a_mutex_that_was_unlocked) {
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
