// SPDX-License-Identifier: Apache-2.0
// Tests the deadlock detector. Each test runs in its own process, because a report covers the whole
// process.
#include "core/diagnostics/deadlock_detector.hpp"
#include "sennit/detail/core/verbs.hpp"
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

// ThreadSanitizer has a thread of its own, and the detector does not know which threads that thread
// wakes. A child of fork() is not supported under ThreadSanitizer.
class deadlock_death_test : public testing::Test {
protected:
    void SetUp() override {
#if defined(SENNIT_THREAD_SANITIZER) || defined(SENNIT_EMULATED)
        GTEST_SKIP() << "in this build the process has threads that the program did not create";
#endif
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }
};

void wait_for_ever() {
    sennit::event never;
    never.wait();
}

// The exit status of a test in which the detector reported nothing. No report ends with this
// status.
constexpr int nothing_was_reported = 3;

std::atomic<int> looks{0}; // The number of looks that found no deadlock.
constexpr std::int64_t pause_ns = 10'000'000;

TEST_F(deadlock_death_test, deadlock_of_only_fiber_is_reported) {
    EXPECT_EXIT(
        sennit::run(wait_for_ever), testing::ExitedWithCode(sennit::deadlock_exit_status),
        "sennit: \\[SNT-030\\] deadlock: .*\n(.*\n)*.*strand [0-9]+ \\[blocked in event at 0x");
}

TEST_F(deadlock_death_test, report_names_both_switches_that_turn_it_off) {
    EXPECT_EXIT(sennit::run(wait_for_ever), testing::ExitedWithCode(sennit::deadlock_exit_status),
                "waits for a signal or for another process .*\n"
                ".*SENNIT_DEADLOCK=off .*runtime_options::watch_deadlocks = false");
}

// Locks `mine`, meets the other side, and then locks `wanted`. `both` is a barrier or a latch of
// two.
template <class Meeting>
void hold_and_want(Meeting& both, sennit::mutex& mine, sennit::mutex& wanted) {
    std::lock_guard inside(mine);
    both.arrive_and_wait();
    std::lock_guard too(wanted);
}

TEST_F(deadlock_death_test, deadlock_of_two_fibers_is_reported_with_circle) {
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

TEST_F(deadlock_death_test, report_names_suspended_task_and_place_of_its_spawn) {
    const auto waits_for_task = [] {
        sennit::event never_set;
        const auto waits = [&]() -> sennit::task<> { co_await never_set.async_wait(); };
        sennit::spawn({.name = "session"}, waits).get();
    };
    EXPECT_EXIT(sennit::run(waits_for_task), testing::ExitedWithCode(sennit::deadlock_exit_status),
                "task [0-9]+ 'session' \\[blocked in event at 0x.*\n    made at .*0x");
}

TEST_F(deadlock_death_test, deadlock_across_two_runtimes_is_reported_with_circle) {
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

// The body waits for the fiber on top of its stack, and that fiber waits for the body.
TEST_F(deadlock_death_test, deadlock_of_two_strands_on_one_stack_is_reported_with_circle) {
    const auto embrace = [] {
        sennit::runtime runtime({.workers = 1});
        runtime.run([] {
            sennit::mutex door;
            std::lock_guard inside(door);
            sennit::fiber guest({.name = "guest"}, [&] { std::lock_guard too(door); });
            guest.join(); // Runs the guest on top of this stack.
        });
    };
    EXPECT_EXIT(
        embrace(), testing::ExitedWithCode(sennit::deadlock_exit_status),
        "circle: fiber [0-9]+ 'guest' waits for strand [0-9]+ waits for fiber [0-9]+ 'guest'");
}

TEST_F(deadlock_death_test, deadlock_of_threads_is_reported) {
    const auto all = [] {
        sennit::runtime runtime({.workers = 3}), other({.workers = 1});
        sennit::event never;
        std::thread outside([&] { never.wait(); });
        other.run([&] { runtime.run([&] { never.wait(); }); });
    };
    EXPECT_EXIT(all(), testing::ExitedWithCode(sennit::deadlock_exit_status), "deadlock");
}

TEST_F(deadlock_death_test, deadlock_is_reported_when_last_thread_blocks_late) {
    const auto late = [] {
        sennit::sched::deadlock_detector::set_test_interval(pause_ns, []() noexcept { ++looks; });
        sennit::event never;
        sennit::runtime runtime({.workers = 1});
        sennit::fiber blocked({.runtime = &runtime}, [&] { never.wait(); });
        // After three looks the worker does not look again. This thread must then find the
        // deadlock.
        while (looks < 3) std::this_thread::sleep_for(1ms);
        blocked.join();
    };
    EXPECT_EXIT(late(), testing::ExitedWithCode(sennit::deadlock_exit_status), "deadlock");
}

TEST_F(deadlock_death_test, deadlock_is_reported_after_end_of_blocking_call) {
    const auto all = [] {
        sennit::run([] {
            sennit::blocking([] {});
            wait_for_ever();
        });
    };
    EXPECT_EXIT(all(), testing::ExitedWithCode(sennit::deadlock_exit_status), "deadlock");
}

// Runs `body`, which never returns, while a thread could still wake the blocked strands but does
// not do so. The second look that finds no deadlock ends the process. The main thread may or may
// not look; the worker of `bystander` certainly looks.
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

TEST_F(deadlock_death_test, sleeping_thread_prevents_report) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) {
                    std::thread outside([] { std::this_thread::sleep_for(1h); });
                    runtime.run(wait_for_ever);
                    outside.join();
                }),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, armed_timer_prevents_report) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) {
                    runtime.run([] {
                        sennit::fiber waits(wait_for_ever);
                        sennit::this_fiber::sleep_for(1h);
                    });
                }),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, running_blocking_call_prevents_report) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) {
                    runtime.run([] {
                        sennit::fiber waits(wait_for_ever);
                        sennit::blocking([] { std::this_thread::sleep_for(1h); });
                    });
                }),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, timed_wait_of_thread_prevents_report) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) {
                    sennit::fiber waits({.runtime = &runtime}, wait_for_ever);
                    sennit::counting_semaphore<> nobody(0);
                    (void)nobody.try_acquire_for(1h);
                }),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, signal_handler_prevents_report) {
    EXPECT_EXIT((std::signal(SIGALRM, [](int) {}),
                 with_somebody_awake([](sennit::runtime& runtime) { runtime.run(wait_for_ever); })),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

// Sennit also handles these signals: SIGURG halts workers for a dump, and the dump signal requests
// a dump.
TEST_F(deadlock_death_test, second_handler_of_sennits_signal_prevents_report) {
    EXPECT_EXIT((std::signal(SIGURG, [](int) {}), with_somebody_awake([](sennit::runtime& runtime) {
                     std::ostringstream ignored;
                     runtime.dump(ignored); // Installs Sennit's handler before the other one.
                     runtime.run(wait_for_ever);
                 })),
                testing::ExitedWithCode(nothing_was_reported), "^$");
    EXPECT_EXIT((sennit::obs::dump_on_signal(SIGUSR2), std::signal(SIGUSR2, [](int) {}),
                 with_somebody_awake([](sennit::runtime& runtime) { runtime.run(wait_for_ever); })),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, disabled_detector_reports_nothing) {
    EXPECT_EXIT(with_somebody_awake([](sennit::runtime& runtime) { runtime.run(wait_for_ever); },
                                    {.workers = 1, .watch_deadlocks = false}),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST_F(deadlock_death_test, environment_disables_detector) {
    EXPECT_EXIT((::setenv("SENNIT_DEADLOCK", "off", 1),
                 with_somebody_awake([](sennit::runtime& runtime) { runtime.run(wait_for_ever); })),
                testing::ExitedWithCode(nothing_was_reported), "^$");
}

TEST(deadlock_detector, report_that_is_off_and_armed_timer_spare_workers_their_looks) {
    using detector = sennit::sched::deadlock_detector;
    const auto excluded = [] { return detector::excluded_by(*sennit::sched::current_runtime()); };
    sennit::runtime off({.workers = 1, .watch_deadlocks = false});
    EXPECT_TRUE(off.run(excluded));
    sennit::runtime on({.workers = 1});
    on.run([&] {
        EXPECT_FALSE(excluded());
        sennit::nursery sleepers;
        sleepers.start([] { sennit::this_fiber::sleep_for(1h); });
        sennit::this_fiber::yield();
        EXPECT_TRUE(excluded());
        sleepers.cancel();
        try {
            sleepers.join();
        } catch (const sennit::cancelled&) {
        }
        EXPECT_FALSE(excluded());
    });
}

TEST_F(deadlock_death_test, callback_receives_report_and_ends_deadlock) {
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

// The workers look when they park. The main thread looks in a loop, and the detector counts it as a
// thread that wakes no other thread.
TEST_F(deadlock_death_test, callback_is_called_once) {
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

// Lets a worker call `callback`. Until then the main thread waits outside the library, and the
// detector counts it as a thread that wakes no other thread.
template <class Callback>
void tell_a_worker(Callback callback, sennit::event& go) {
    ::alarm(60); // Turns a hang into a failure.
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

TEST_F(deadlock_death_test, callback_may_block_in_library) {
    const auto rescued = [] {
        sennit::event go;
        tell_a_worker(
            [&](sennit::runtime& runtime) {
                sennit::this_fiber::sleep_for(1ms);
                sennit::fiber([] { sennit::this_fiber::yield(); }).join();
                (void)sennit::async([] { return 1; }).get();
                sennit::blocking([] {});
                (void)sennit::fork_join([] { return 1; }, [] { return 2; });
                runtime.run([] { sennit::this_fiber::yield(); }); // On the worker that has looked.
                go.set();
            },
            go);
        std::_Exit(0);
    };
    EXPECT_EXIT(rescued(), testing::ExitedWithCode(0), "^$");
}

TEST_F(deadlock_death_test, runtime_destructor_waits_for_callback) {
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

// A sleep of the callback is no change for the looks that follow it.
TEST_F(deadlock_death_test, sleeping_callback_is_called_once) {
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
