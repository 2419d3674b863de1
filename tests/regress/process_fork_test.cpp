// SPDX-License-Identifier: Apache-2.0
// Calls fork() while other threads use every object that the library keeps for the whole process.
// The child has none of these threads. The locks that they held and the objects that they were
// making must not stop the child.
#include "child_process.hpp"
#include "sennit/detail/base/sanitizers.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <csignal>
#include <sstream>
#include <thread>
#include <vector>

// ThreadSanitizer allows no new threads in a child of fork(); AddressSanitizer's list of freed
// memory may stay locked in a child, if another thread frees some.
#if !defined(SENNIT_ADDRESS_SANITIZER) && !defined(SENNIT_THREAD_SANITIZER)

namespace process_fork {
namespace {

struct twice {
    using reply = int;
    int of;
};
struct doubler : sennit::actor<doubler, twice> {
    int on(twice one) { return 2 * one.of; }
};

// Takes stacks, idle stacks first, and gives them back.
bool use_coroutines() {
    std::vector<sennit::coroutine<int, int>> all;
    for (int i = 0; i < 3; ++i)
        all.emplace_back([](auto& self, int value) {
            for (;;) value = self.suspend(value + 1);
            return 0;
        });
    int sum = 0;
    for (auto& each : all) sum += each.resume(1);
    return sum == 6;
}

bool use_runtime() {
    sennit::runtime mine({.workers = 2});
    const sennit::fallback_handler letters(mine, [](const sennit::dead_letter&) {});
    sennit::actor_group group(mine);
    const auto one = group.spawn<doubler>();
    const int answer = one.ask(twice{21}).get();
    const int sum = mine.run([] {
        int left = 0, right = 0;
        sennit::fork_join([&] { left = sennit::async([] { return 1; }).get(); },
                          [&] { right = 2; });
        return left + right;
    });
    std::ostringstream text;
    mine.dump(text);
    // A worker whose thread gets no processor counts as stuck, so a third, spare worker may run for
    // it.
    return answer == 42 && sum == 3 && text.str().find("worker 1: ") != std::string::npos;
}

bool use_signal() {
    sennit::obs::dump_on_signal(SIGUSR2);
    return true;
}

bool use_everything() {
    return use_coroutines() && use_runtime() && use_signal();
}

// The parent's threads begin with the first fork, so that the fork also meets objects that a
// process makes once.
[[noreturn]] void fork_among_users() {
    constexpr int forks = 60;
    static constexpr std::array uses{&use_coroutines, &use_runtime, &use_runtime, &use_signal};
    std::atomic<int> go{0};
    std::atomic<bool> stop{false}, failed{false};
    std::vector<std::thread> users;
    for (const auto use : uses)
        users.emplace_back([&, use] {
            ++go;
            while (!stop)
                if (!use()) failed = true;
        });
    while (go != static_cast<int>(uses.size())) std::this_thread::yield();
    for (int i = 0; i < forks && !failed; ++i) {
        if (status_of_child_in_time([] { return use_everything() ? 0 : 1; }) != 0) failed = true;
    }
    stop = true;
    for (auto& each : users) each.join();
    std::_Exit(failed ? 1 : 0);
}

TEST(process_fork_death_test, child_forked_while_threads_use_the_library_uses_it_too) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(fork_among_users(), testing::ExitedWithCode(0), "");
}

// A coroutine needs no runtime, so no other part of the library has prepared the process for
// fork().
TEST(process_fork_death_test, child_forked_while_threads_use_coroutines_makes_coroutines) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto forks = [] {
        std::atomic<bool> stop{false};
        std::thread user([&] {
            while (!stop) (void)use_coroutines();
        });
        int failed = 0;
        for (int i = 0; i < 1000 && failed == 0; ++i)
            failed = status_of_child_in_time([] { return use_coroutines() ? 0 : 1; });
        stop = true;
        user.join();
        std::_Exit(failed == 0 ? 0 : 1);
    };
    EXPECT_EXIT(forks(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace process_fork

#endif
