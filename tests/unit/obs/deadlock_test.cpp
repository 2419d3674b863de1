// SPDX-License-Identifier: Apache-2.0
// Each in a process of its own: what is reported is the whole process.
#include "core/diagnostics/deadlock_detector.hpp"
#include "sys/kernel_threads.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace {

using namespace std::chrono_literals;

// ThreadSanitizer keeps a thread of its own, of which nobody knows whom it wakes; and a child of
// fork() is not for it.
class deadlock_death_test : public testing::Test {
protected:
    void SetUp() override {
#if defined(SENNIT_THREAD_SANITIZER) || defined(SENNIT_EMULATED)
        GTEST_SKIP() << "here the process has threads besides its own";
#endif
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }
};

void wait_for_ever() {
    sennit::event never;
    never.wait();
}

// Not one of the statuses that are tested for.
constexpr int nothing_was_reported = 3;

std::atomic<int> looks{0}; // that found nothing
constexpr std::int64_t pause_ns = 10'000'000;

TEST_F(deadlock_death_test, of_the_only_fiber_is_reported) {
    EXPECT_EXIT(
        sennit::run(wait_for_ever), testing::ExitedWithCode(sennit::deadlock_exit_status),
        "sennit: \\[SNT-030\\] deadlock: .*\n(.*\n)*.*strand [0-9]+ \\[blocked in event at 0x");
}

TEST_F(deadlock_death_test, report_names_both_switches_that_turn_it_off) {
    EXPECT_EXIT(sennit::run(wait_for_ever), testing::ExitedWithCode(sennit::deadlock_exit_status),
                "waits for a signal or for another process .*\n"
                ".*SENNIT_DEADLOCK=off .*runtime_options::watch_deadlocks = false");
}

// Wants the other's mutex when both have one: `both` is a barrier or a latch of two.
template <class Meeting>
void hold_and_want(Meeting& both, sennit::mutex& mine, sennit::mutex& wanted) {
    std::lock_guard inside(mine);
    both.arrive_and_wait();
    std::lock_guard too(wanted);
}

TEST_F(deadlock_death_test, of_two_fibers_with_two_mutexes_is_reported_with_its_circle) {
    const auto embrace = [] {
        sennit::runtime runtime({.workers = 2});
        runtime.run([] {
            sennit::mutex first, second;
            sennit::barrier both(2);
            sennit::fiber a({.name = "a"}, [&] { hold_and_want(both, first, second); });
            sennit::fiber b({.name = "b"}, [&] { hold_and_want(both, second, first); });
        });
    };
    EXPECT_EXIT(
        embrace(), testing::ExitedWithCode(sennit::deadlock_exit_status),
        "circle: fiber [0-9]+ '[ab]' waits for fiber [0-9]+ '[ab]' waits for fiber [0-9]+ '[ab]'");
}

TEST_F(deadlock_death_test, over_two_runtimes_is_reported_with_its_circle) {
    const auto embrace = [] {
        sennit::runtime one({.workers = 1}), other({.workers = 1});
        sennit::mutex first, second;
        sennit::latch both(2);
        sennit::fiber a({.name = "a", .runtime = &one},
                        [&] { hold_and_want(both, first, second); });
        sennit::fiber b({.name = "b", .runtime = &other},
                        [&] { hold_and_want(both, second, first); });
        a.join();
    };
    EXPECT_EXIT(
        embrace(), testing::ExitedWithCode(sennit::deadlock_exit_status),
        "circle: fiber [0-9]+ '[ab]' waits for fiber [0-9]+ '[ab]' waits for fiber [0-9]+ '[ab]'");
}

// The body waits for the fiber on top of it, which waits for the body.
TEST_F(deadlock_death_test, of_two_on_one_stack_is_reported_with_its_circle) {
    const auto embrace = [] {
        sennit::runtime runtime({.workers = 1});
        runtime.run([] {
            sennit::mutex door;
            std::lock_guard inside(door);
            sennit::fiber guest({.name = "guest"}, [&] { std::lock_guard too(door); });
            guest.join(); // runs it right here
        });
    };
    EXPECT_EXIT(
        embrace(), testing::ExitedWithCode(sennit::deadlock_exit_status),
        "circle: fiber [0-9]+ 'guest' waits for strand [0-9]+ waits for fiber [0-9]+ 'guest'");
}

TEST_F(deadlock_death_test, of_threads_is_reported_too) {
    const auto all = [] {
        sennit::runtime runtime({.workers = 3}), other({.workers = 1});
        sennit::event never;
        std::thread outside([&] { never.wait(); });
        other.run([&] { runtime.run([&] { never.wait(); }); });
    };
    EXPECT_EXIT(all(), testing::ExitedWithCode(sennit::deadlock_exit_status), "deadlock");
}

TEST_F(deadlock_death_test, is_reported_when_the_last_thread_comes_late) {
    const auto late = [] {
        sennit::sched::deadlock_detector::set_test_interval(pause_ns, []() noexcept { ++looks; });
        sennit::event never;
        sennit::runtime runtime({.workers = 1});
        sennit::fiber blocked({.runtime = &runtime}, [&] { never.wait(); });
        while (looks < 3)
            std::this_thread::sleep_for(
                1ms); // the worker looks no more: it is this thread that looks
        blocked.join();
    };
    EXPECT_EXIT(late(), testing::ExitedWithCode(sennit::deadlock_exit_status), "deadlock");
}

TEST_F(deadlock_death_test, is_reported_after_a_blocking_call_has_ended) {
    const auto all = [] {
        sennit::run([] {
            sennit::blocking([] {});
            wait_for_ever();
        });
    };
    EXPECT_EXIT(all(), testing::ExitedWithCode(sennit::deadlock_exit_status), "deadlock");
}

// The same while somebody can still wake the others, though nobody does: `body` never returns. The
// second look that finds nothing ends the process. Besides the main thread, which may or may not
// look, there is one that does.
template <class Body>
[[noreturn]] void with_somebody_awake(Body body,
                                      const sennit::runtime_options& options = {.workers = 2}) {
    sennit::sched::deadlock_detector::set_test_interval(pause_ns, []() noexcept {
        if (++looks == 2) std::_Exit(nothing_was_reported);
    });
    sennit::runtime runtime(options), bystander({.workers = 1});
    body(runtime);
    std::_Exit(1);
}

TEST_F(deadlock_death_test, is_none_while_a_thread_sleeps_elsewhere) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) {
                    std::thread outside([] { std::this_thread::sleep_for(1h); });
                    runtime.run(wait_for_ever);
                    outside.join();
                }),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, is_none_while_a_timer_is_armed) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) {
                    runtime.run([] {
                        sennit::fiber waits(wait_for_ever);
                        sennit::this_fiber::sleep_for(1h);
                    });
                }),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, is_none_while_a_blocking_call_is_under_way) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) {
                    runtime.run([] {
                        sennit::fiber waits(wait_for_ever);
                        sennit::blocking([] { std::this_thread::sleep_for(1h); });
                    });
                }),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, is_none_while_a_thread_waits_with_a_deadline) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) {
                    sennit::fiber waits({.runtime = &runtime}, wait_for_ever);
                    sennit::counting_semaphore<> nobody(0);
                    (void)nobody.try_acquire_for(1h);
                }),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, is_none_while_a_signal_handler_is_installed) {
    EXPECT_EXIT((std::signal(SIGALRM, [](int) {}),
                 with_somebody_awake([](sennit::runtime& runtime) { runtime.run(wait_for_ever); })),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

// Sennit's own: for a dump, and to halt workers for one.
TEST_F(deadlock_death_test, is_none_while_another_handles_a_signal_of_ours_too) {
    EXPECT_EXIT((std::signal(SIGURG, [](int) {}), with_somebody_awake([](sennit::runtime& runtime) {
                     std::ostringstream ignored;
                     runtime.dump(ignored); // puts ours before it
                     runtime.run(wait_for_ever);
                 })),
                testing::ExitedWithCode(nothing_was_reported), "^$");
    EXPECT_EXIT((sennit::obs::dump_on_signal(SIGUSR2), std::signal(SIGUSR2, [](int) {}),
                 with_somebody_awake([](sennit::runtime& runtime) { runtime.run(wait_for_ever); })),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, is_not_looked_for_when_it_is_turned_off) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) { runtime.run(wait_for_ever); },
                                    {.workers = 1, .watch_deadlocks = false}),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, is_turned_off_by_the_environment) {
    EXPECT_EXIT((::setenv("SENNIT_DEADLOCK", "off", 1),
                 with_somebody_awake([](sennit::runtime& runtime) { runtime.run(wait_for_ever); })),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, is_told_to_the_callback_which_may_end_it) {
    const auto rescued = [] {
        sennit::event go;
        bool told = false;
        const auto rescue = [&](std::string_view report) {
            told = report.find("blocked in event") != std::string_view::npos;
            go.set();
        };
        sennit::runtime runtime({.workers = 2, .on_deadlock = rescue});
        runtime.run([&] { go.wait(); });
        std::_Exit(told ? 0 : 1);
    };
    EXPECT_EXIT(rescued(), testing::ExitedWithCode(0), "^$");
}

// The workers look as they fall asleep, and the main thread, which passes for one that wakes
// nobody, in a loop.
TEST_F(deadlock_death_test, is_told_once) {
    const auto looks_again = [] {
        static std::atomic<int> told{0};
        sennit::runtime runtime({.workers = 2, .on_deadlock = [](std::string_view) { ++told; }});
        sennit::fiber blocked({.runtime = &runtime}, wait_for_ever);
        sennit::sched::deadlock_detector::ignore_thread(sennit::sys::this_os_thread());
        while (told == 0) sennit::sched::deadlock_detector::look();
        for (int i = 0; i < 10; ++i) sennit::sched::deadlock_detector::look();
        std::_Exit(told == 1 ? 0 : 1);
    };
    EXPECT_EXIT(looks_again(), testing::ExitedWithCode(0), "^$");
}

// Told by a worker: the main thread, which passes for one that wakes nobody until then, waits
// outside of the library.
template <class Callback>
void tell_a_worker(Callback callback, sennit::event& go) {
    ::alarm(60); // a hang is a failure
    static std::atomic<int> told;
    told = 0;
    sennit::runtime runtime({.workers = 1, .on_deadlock = [&](std::string_view) {
                                 ++told;
                                 callback(runtime);
                             }});
    sennit::fiber blocked({.runtime = &runtime}, [&] { go.wait(); });
    sennit::sched::deadlock_detector::ignore_thread(sennit::sys::this_os_thread());
    while (told == 0) std::this_thread::sleep_for(1ms);
    sennit::sched::deadlock_detector::ignore_thread(0);
    blocked.join();
    if (told != 1) std::_Exit(1);
}

TEST_F(deadlock_death_test, is_told_to_a_callback_that_may_block_in_the_library) {
    const auto rescued = [] {
        sennit::event go;
        tell_a_worker(
            [&](sennit::runtime& runtime) {
                sennit::this_fiber::sleep_for(1ms);
                sennit::fiber([] { sennit::this_fiber::yield(); }).join();
                (void)sennit::async([] { return 1; }).get();
                sennit::blocking([] {});
                (void)sennit::fork_join([] { return 1; }, [] { return 2; });
                runtime.run(
                    [] { sennit::this_fiber::yield(); }); // by the very worker that has looked
                go.set();
            },
            go);
        std::_Exit(0);
    };
    EXPECT_EXIT(rescued(), testing::ExitedWithCode(0), "^$");
}

TEST_F(deadlock_death_test, ends_no_runtime_before_its_callback_has_returned) {
    const auto rescued = [] {
        sennit::event go;
        std::atomic<bool> returned = false;
        tell_a_worker(
            [&](sennit::runtime&) {
                go.set();
                std::this_thread::sleep_for(100ms);
                returned = true;
            },
            go);
        std::_Exit(returned ? 0 : 1);
    };
    EXPECT_EXIT(rescued(), testing::ExitedWithCode(0), "^$");
}

// What the callback sleeps for is no change to those who look after it.
TEST_F(deadlock_death_test, is_told_once_also_to_a_callback_that_has_slept) {
    const auto looks_again = [] {
        static std::atomic<int> told{0};
        const auto sleeps = [](std::string_view) {
            sennit::event soon;
            std::thread other([&] {
                std::this_thread::sleep_for(20ms);
                soon.set();
            });
            soon.wait();
            other.join();
            ++told;
        };
        sennit::runtime runtime({.workers = 2, .on_deadlock = sleeps});
        sennit::fiber blocked({.runtime = &runtime}, wait_for_ever);
        sennit::sched::deadlock_detector::ignore_thread(sennit::sys::this_os_thread());
        while (told == 0) sennit::sched::deadlock_detector::look();
        for (int i = 0; i < 10; ++i) {
            sennit::sched::deadlock_detector::look();
            std::this_thread::sleep_for(10ms);
        }
        std::_Exit(told == 1 ? 0 : 1);
    };
    EXPECT_EXIT(looks_again(), testing::ExitedWithCode(0), "^$");
}

} // namespace
